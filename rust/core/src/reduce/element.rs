//! What elements can do: be summed and divided, and be compared.

/// An element of one data type.
pub trait Element: Copy + PartialOrd + Send + Sync {
    /// What sums of few elements are kept as, and those of many.
    type Sum: Sum<Self>;
    type LongSum: Sum<Self>;
    const SIZE: usize;
    /// Where looking for the least element begins, and for the greatest. What cannot be compared never counts.
    const HIGHEST: Self;
    const LOWEST: Self;
    /// Sums of so many elements are few.
    const FEW: usize;

    fn load(bytes: &[u8]) -> Self;
    fn bytes(self) -> impl Iterator<Item = u8>;
    /// Whether it is before another in order; what cannot be compared is behind all others.
    fn before(self, other: Self) -> bool;
}

/// A sum of elements.
pub trait Sum<T>: Copy + Default {
    fn plus(self, element: T) -> Self;
    /// The means of blocks of `count` elements.
    fn means(sums: &[Self], count: usize, made: &mut Vec<T>);
}

/// A truth value; any byte but 0 is true.
#[derive(Clone, Copy, PartialEq, PartialOrd)]
pub struct Bool(bool);

/// Quotients rounded to the nearest, and to the even one from halfway.
macro_rules! rounded {
    ($sum:ty, $sums:expr, $count:expr, $element:expr, $made:expr) => {{
        let (count, element) = ($count as $sum, $element);
        let up = |quotient: $sum, rest: $sum| rest * 2 + (quotient & 1) > count;
        if $count.is_power_of_two() {
            let shift = $count.trailing_zeros();
            $made.extend($sums.iter().map(|&sum| {
                let (quotient, rest) = (sum >> shift, sum & (count - 1));
                element(quotient + <$sum>::from(up(quotient, rest)))
            }));
        } else {
            $made.extend($sums.iter().map(|&sum| {
                let (quotient, rest) = (sum.div_euclid(count), sum.rem_euclid(count));
                element(quotient + <$sum>::from(up(quotient, rest)))
            }));
        }
    }};
}

/// What elements have that are stored as they lie in memory.
macro_rules! as_in_memory {
    ($type:ty) => {
        const SIZE: usize = size_of::<$type>();

        #[inline(always)]
        fn load(bytes: &[u8]) -> Self {
            let mut own = [0; size_of::<$type>()];
            own.copy_from_slice(bytes);
            <$type>::from_ne_bytes(own)
        }

        fn bytes(self) -> impl Iterator<Item = u8> {
            self.to_ne_bytes().into_iter()
        }
    };
}

macro_rules! integer {
    ($type:ty, $sum:ty, $long:ty, $few:expr) => {
        impl Element for $type {
            type Sum = $sum;
            type LongSum = $long;
            const HIGHEST: Self = <$type>::MAX;
            const LOWEST: Self = <$type>::MIN;
            const FEW: usize = $few;

            as_in_memory!($type);

            #[inline(always)]
            fn before(self, other: Self) -> bool {
                self < other
            }
        }
    };
}

macro_rules! integer_sum {
    ($sum:ty: $($type:ty),*) => {$(
        impl Sum<$type> for $sum {
            #[inline(always)]
            fn plus(self, element: $type) -> Self {
                self + <$sum>::from(element)
            }

            fn means(sums: &[Self], count: usize, made: &mut Vec<$type>) {
                // A mean of elements of a type is one of the type.
                rounded!($sum, sums, count, |mean| mean as $type, made);
            }
        }
    )*};
}

macro_rules! float {
    ($type:ty) => {
        impl Element for $type {
            type Sum = $type;
            type LongSum = $type;
            const HIGHEST: Self = <$type>::INFINITY;
            const LOWEST: Self = <$type>::NEG_INFINITY;
            const FEW: usize = usize::MAX;

            as_in_memory!($type);

            #[inline(always)]
            fn before(self, other: Self) -> bool {
                self < other || (other.is_nan() && !self.is_nan())
            }
        }

        impl Sum<$type> for $type {
            #[inline(always)]
            fn plus(self, element: $type) -> Self {
                self + element
            }

            fn means(sums: &[Self], count: usize, made: &mut Vec<$type>) {
                let count = count as $type;
                made.extend(sums.iter().map(|&sum| sum / count));
            }
        }
    };
}

integer!(u8, i32, i64, 1 << 15);
integer!(i8, i32, i64, 1 << 15);
integer!(u16, i32, i64, 1 << 15);
integer!(i16, i32, i64, 1 << 15);
integer!(u32, i64, i128, 1 << 30);
integer!(i32, i64, i128, 1 << 30);
integer!(u64, i128, i128, usize::MAX);
integer!(i64, i128, i128, usize::MAX);
integer_sum!(i32: u8, i8, u16, i16);
integer_sum!(i64: u8, i8, u16, i16, u32, i32);
integer_sum!(i128: u32, i32, u64, i64);
float!(f32);
float!(f64);

impl Element for Bool {
    type Sum = i32;
    type LongSum = i64;
    const SIZE: usize = 1;
    const HIGHEST: Self = Bool(true);
    const LOWEST: Self = Bool(false);
    const FEW: usize = 1 << 30;

    #[inline(always)]
    fn load(bytes: &[u8]) -> Self {
        Bool(bytes[0] != 0)
    }

    fn bytes(self) -> impl Iterator<Item = u8> {
        std::iter::once(u8::from(self.0))
    }

    #[inline(always)]
    fn before(self, other: Self) -> bool {
        !self.0 && other.0
    }
}

macro_rules! bool_sum {
    ($($sum:ty),*) => {$(
        impl Sum<Bool> for $sum {
            #[inline(always)]
            fn plus(self, element: Bool) -> Self {
                self + <$sum>::from(element.0)
            }

            fn means(sums: &[Self], count: usize, made: &mut Vec<Bool>) {
                rounded!($sum, sums, count, |mean| Bool(mean != 0), made);
            }
        }
    )*};
}

bool_sum!(i32, i64);

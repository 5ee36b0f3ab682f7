//! Memory whose ends are watched: what is handed to a decoder, and where it decodes to.
//!
//! With a sanitizer each of them is an allocation of its own. Without one (`--cfg bare`, see fuzz.py) they end where a page
//! begins that nobody may touch: a byte read or written behind the end is the end of the process, and costs nothing to watch.

use std::ops::{Deref, DerefMut};

/// Bytes of one input that were encoded, or are to be decoded.
pub struct Room(Inner);

#[cfg(not(bare))]
type Inner = Box<[u8]>;
#[cfg(bare)]
type Inner = guarded::Slot;

impl Room {
    pub fn of(bytes: &[u8]) -> Self {
        #[cfg(not(bare))]
        return Room(bytes.into());
        #[cfg(bare)]
        return Room(guarded::Slot::of(bytes));
    }

    pub fn filled(byte: u8, length: usize) -> Self {
        #[cfg(not(bare))]
        return Room(vec![byte; length].into());
        #[cfg(bare)]
        return Room(guarded::Slot::filled(byte, length));
    }
}

impl Deref for Room {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        &self.0
    }
}

impl DerefMut for Room {
    fn deref_mut(&mut self) -> &mut [u8] {
        &mut self.0
    }
}

#[cfg(bare)]
mod guarded {
    use std::cell::RefCell;
    use std::ffi::{c_int, c_long, c_void};
    use std::ops::{Deref, DerefMut};

    extern "C" {
        fn mmap(
            at: *mut c_void,
            length: usize,
            rights: c_int,
            flags: c_int,
            file: c_int,
            offset: c_long,
        ) -> *mut c_void;
        fn mprotect(at: *mut c_void, length: usize, rights: c_int) -> c_int;
    }
    const READ_WRITE: c_int = 3;
    const PRIVATE_ANONYMOUS: c_int = if cfg!(target_os = "macos") { 0x1002 } else { 0x22 };
    /// More than any input needs, and of whole pages of any size.
    const MOST: usize = 256 << 10;
    const GUARD: usize = 64 << 10;

    thread_local! {
        /// Those that nobody has at present.
        static FREE: RefCell<Vec<&'static mut [u8]>> = const { RefCell::new(Vec::new()) };
    }

    /// The last `length` bytes before a page that may not be touched.
    pub struct Slot {
        whole: &'static mut [u8],
        length: usize,
    }

    impl Slot {
        fn new(length: usize) -> Self {
            assert!(length <= MOST, "{length} bytes");
            Slot { whole: FREE.with_borrow_mut(Vec::pop).unwrap_or_else(map), length }
        }

        pub fn of(bytes: &[u8]) -> Self {
            let mut slot = Slot::new(bytes.len());
            slot.copy_from_slice(bytes);
            slot
        }

        pub fn filled(byte: u8, length: usize) -> Self {
            let mut slot = Slot::new(length);
            slot.fill(byte);
            slot
        }
    }

    fn map() -> &'static mut [u8] {
        // SAFETY: new memory of the system's choice.
        let start = unsafe { mmap(std::ptr::null_mut(), MOST + GUARD, READ_WRITE, PRIVATE_ANONYMOUS, -1, 0) };
        assert!(start as isize != -1, "no memory");
        let start: *mut u8 = start.cast();
        // SAFETY: whole pages within what was just mapped, into which nobody has a reference.
        assert!(unsafe { mprotect(start.add(MOST).cast(), GUARD, 0) } == 0, "a page cannot be guarded");
        // SAFETY: readable, writable, zeros, never unmapped, and nobody else's.
        unsafe { std::slice::from_raw_parts_mut(start, MOST) }
    }

    impl Drop for Slot {
        fn drop(&mut self) {
            FREE.with_borrow_mut(|free| free.push(std::mem::take(&mut self.whole)));
        }
    }

    impl Deref for Slot {
        type Target = [u8];

        fn deref(&self) -> &[u8] {
            &self.whole[MOST - self.length..]
        }
    }

    impl DerefMut for Slot {
        fn deref_mut(&mut self) -> &mut [u8] {
            &mut self.whole[MOST - self.length..]
        }
    }
}

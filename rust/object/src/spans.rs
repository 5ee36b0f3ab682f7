//! Few requests for many ranges of one value: ranges that are close to each other are requested as one.
//!
//! Bytes in between that nobody wants cost the time in which they come; requests that are in flight together cost none.

use object_store::GetRange;

/// A range that is wanted: where it begins (negative: so many bytes before the end) and how long it is (`None`: to the end).
pub type Wanted = (i64, Option<u64>);

/// One request, and the ranges that are answered by it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Span {
    /// Where the request begins; negative: so many bytes before the end of the value.
    pub start: i64,
    /// How many bytes are requested; `None`: all to the end.
    pub length: Option<u64>,
    /// The numbers of the ranges.
    pub members: Vec<usize>,
}

impl Span {
    pub const WHOLE: Span = Span { start: 0, length: None, members: Vec::new() };

    /// What the request asks for; `None`: the whole value.
    pub fn range(&self) -> Option<GetRange> {
        match (u64::try_from(self.start), self.length) {
            (Err(_), _) => Some(GetRange::Suffix(self.start.unsigned_abs())),
            (Ok(start), Some(length)) => Some(GetRange::Bounded(start..start.saturating_add(length))),
            (Ok(0), None) => None,
            (Ok(start), None) => Some(GetRange::Offset(start)),
        }
    }

    /// Where a member's range lies in the `found` bytes that the request was answered with, clipped to them.
    pub fn part(&self, wanted: Wanted, size: usize) -> std::ops::Range<usize> {
        let clip = |position: u64| usize::try_from(position).unwrap_or(usize::MAX).min(size);
        let begin = if self.start < 0 {
            size.saturating_sub(clip(wanted.0.unsigned_abs()))
        } else {
            clip(wanted.0.saturating_sub(self.start).unsigned_abs())
        };
        let end = wanted.1.map_or(size, |length| clip((begin as u64).saturating_add(length)));
        begin..end
    }
}

/// So many bytes that nobody wants cost less than what another request needs besides its answer.
const FREE: u64 = 16 << 10;

/// The requests for ranges. Ranges up to `FREE` bytes from each other share one; up to `widest` bytes, where there would be
/// more requests otherwise than there is `room` for.
pub fn requests_for(wanted: &[Wanted], room: usize, widest: u64) -> Vec<Span> {
    let mut gap = FREE.min(widest);
    loop {
        let spans = spans_of(wanted, gap);
        if spans.len() <= room.max(1) || gap >= widest {
            return spans;
        }
        gap = gap.saturating_mul(2).min(widest);
    }
}

/// The requests for ranges; those up to `gap` bytes from each other share one.
fn spans_of(wanted: &[Wanted], gap: u64) -> Vec<Span> {
    let mut order: Vec<usize> = (0..wanted.len()).collect();
    order.sort_by_key(|&number| wanted[number].0);
    let mut spans: Vec<Span> = Vec::new();
    let mut suffix: Option<Span> = None;
    for number in order {
        let (start, length) = wanted[number];
        if start < 0 {
            // Sorted: the first of them is the longest.
            suffix.get_or_insert(Span { start, length: None, members: Vec::new() }).members.push(number);
            continue;
        }
        let end = length.map(|length| (start as u64).saturating_add(length));
        match spans.last_mut() {
            Some(last)
                if last.length.is_none_or(|most| {
                    start as u64 <= (last.start as u64).saturating_add(most).saturating_add(gap)
                }) =>
            {
                last.members.push(number);
                let from = last.start as u64;
                last.length = last.length.zip(end).map(|(most, end)| most.max(end.saturating_sub(from)));
            }
            _ => spans.push(Span { start, length, members: vec![number] }),
        }
    }
    spans.extend(suffix);
    spans
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_that_are_close_share_a_request() {
        let spans = spans_of(&[(10, Some(5)), (-4, Some(4)), (0, Some(8)), (900, Some(3))], 100);
        let shown: Vec<_> = spans.iter().map(|span| (span.start, span.length, span.members.clone())).collect();
        assert_eq!(shown, [(0, Some(15), vec![2, 0]), (900, Some(3), vec![3]), (-4, None, vec![1])]);
    }

    #[test]
    fn ranges_share_requests_only_where_there_are_too_many() {
        let wanted: Vec<Wanted> = (0..16).map(|number| (number * 120_000, Some(30_000))).collect();
        let count = |most, widest| requests_for(&wanted, most, widest).len();
        assert_eq!((count(16, 1 << 20), count(15, 1 << 20), count(4, 64 << 10)), (16, 1, 16));
        assert_eq!(requests_for(&[(0, Some(10)), (16_000, Some(10))], 64, 1 << 20).len(), 1);
    }

    #[test]
    fn a_range_to_the_end_takes_all_behind_it() {
        let spans = spans_of(&[(5, None), (900, Some(3)), (6, Some(1))], 0);
        assert_eq!((spans.len(), spans[0].length, &spans[0].members), (1, None, &vec![0, 2, 1]));
    }

    #[test]
    fn members_are_clipped_to_what_was_found() {
        let span = Span { start: 10, length: Some(20), members: vec![] };
        assert_eq!(span.part((12, Some(4)), 20), 2..6);
        assert_eq!(span.part((28, Some(4)), 20), 18..20);
        assert_eq!(span.part((12, None), 5), 2..5);
        let suffix = Span { start: -8, length: None, members: vec![] };
        assert_eq!(suffix.part((-4, Some(2)), 8), 4..6);
        assert_eq!(suffix.part((-8, None), 3), 0..3);
    }
}

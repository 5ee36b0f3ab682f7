//! Panics are bugs of ours: they end the operation as an error that says where, and nothing else.
//!
//! Whoever calls code of ours for somebody else catches what it panics with here: the loops of [`crate::pool`], and the
//! border. Unwinding releases locks and memory on the way.

use std::any::Any;
use std::cell::{Cell, RefCell};
use std::panic::{catch_unwind, set_hook, take_hook, AssertUnwindSafe};
use std::sync::Once;

use crate::error::{Error, Kind};

/// Where in the source a panic was.
pub struct Place(pub Box<str>);

thread_local! {
    /// How many times this thread is within [`catch`].
    static CATCHING: Cell<usize> = const { Cell::new(0) };
    /// Where the last panic of this thread was.
    static PLACE: RefCell<Option<Box<str>>> = const { RefCell::new(None) };
}

/// Runs `work`; a panic in it becomes an error of [`Kind::Internal`], which is reported instead of printed.
pub fn catch<R>(work: impl FnOnce() -> R) -> Result<R, Error> {
    install();
    CATCHING.set(CATCHING.get() + 1);
    // Whatever a panic may have left half done is behind locks that ignore poisoning, and written anew by its next user.
    let outcome = catch_unwind(AssertUnwindSafe(work));
    CATCHING.set(CATCHING.get() - 1);
    outcome.map_err(error)
}

/// Has panics that are caught here leave their place instead of a message on the terminal; others as before.
///
/// Called first where nobody can fork meanwhile: a child forked while another thread is in here would wait for ever.
pub fn install() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        let usual = take_hook();
        set_hook(Box::new(move |panic| {
            if CATCHING.get() == 0 {
                return usual(panic);
            }
            let location = panic.location().map(|location| location.to_string().into_boxed_str());
            PLACE.with_borrow_mut(|last| *last = location);
        }));
    });
}

fn error(payload: Box<dyn Any + Send>) -> Error {
    let message = match (payload.downcast_ref::<&str>(), payload.downcast_ref::<String>()) {
        (Some(message), _) => message,
        (_, Some(message)) => message.as_str(),
        _ => "a panic without a message",
    };
    let mut error = Error::new(Kind::Internal, message);
    error.payload = PLACE.with_borrow_mut(Option::take).map(|location| Box::new(Place(location)) as _);
    std::mem::forget(payload); // dropping what somebody panicked with could panic again
    error
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_panic_says_what_and_where() {
        for outcome in [catch(|| panic!("number {}", 7)), catch(|| std::panic::panic_any("number 7"))] {
            let error: Error = outcome.map(|(): ()| ()).unwrap_err();
            assert_eq!((error.kind, &*error.reason), (Kind::Internal, "number 7"));
            let location = error.location().expect("a place");
            assert!(location.contains("panics.rs:"), "{location}");
        }
        assert_eq!(catch(|| 7).unwrap(), 7);
        let error = catch(|| catch(|| panic!("within")).map(|(): ()| ()).unwrap_err()).unwrap();
        assert_eq!(&*error.reason, "within");
        let odd = catch(|| std::panic::panic_any(7)).map(|(): ()| ()).unwrap_err();
        assert_eq!(&*odd.reason, "a panic without a message");
    }
}

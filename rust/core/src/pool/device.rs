//! Whether a thread has waited for a disk.

/// How many blocks this thread has had read from disks: what came out of the page cache does not count. 0 where the system
/// does not tell.
pub fn blocks_read() -> libc::c_long {
    #[cfg(target_os = "linux")]
    {
        let mut usage = std::mem::MaybeUninit::<libc::rusage>::uninit();
        // SAFETY: the call writes all of the memory that it is given, which is that of one `rusage`, if it answers 0.
        unsafe {
            if libc::getrusage(libc::RUSAGE_THREAD, usage.as_mut_ptr()) == 0 {
                return usage.assume_init().ru_inblock;
            }
        }
    }
    0
}

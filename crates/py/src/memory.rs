//! The allocator: large arrays on large pages, and the handling of failed allocations.
//!
//! Every event reads random positions of tables of several megabytes. With pages of 4 KiB the
//! processor must look up the page as well, and consecutive pages of a table may compete for the
//! same cache lines (docs/performance.md).
//!
//! After a failed allocation Rust aborts the process. The hook for this case is not stable, and an
//! allocator must not unwind. But it need not return: on the thread of a run it reports the failure
//! and then waits forever (`worker.rs`).
#![allow(unsafe_code)]

use crate::worker;
use std::alloc::{GlobalAlloc, Layout, System};
use std::ptr;
use std::sync::atomic::{AtomicPtr, Ordering};

/// The system's allocator, with a request for large pages for arrays that fill at least one.
struct Allocator;

#[global_allocator]
static ALLOCATOR: Allocator = Allocator;

/// Returns freed memory to the system. Some allocators do not do so by themselves.
pub fn trim() {
    #[cfg(all(target_os = "linux", target_env = "gnu"))]
    // SAFETY: `malloc_trim` touches no memory in use.
    unsafe {
        libc::malloc_trim(0);
    }
}

/// Size of a large page on most processors, in bytes.
#[cfg(target_os = "linux")]
const PAGE: usize = 2 << 20;

/// Memory kept in reserve, so that a failed allocation can still be reported. It takes only address
/// space, because nothing is written to it. Every allocator uses a separate mapping for an array of
/// this size, and returns it to the system when it is freed.
pub const RESERVE: Layout = match Layout::from_size_align(32 << 20, 16) {
    Ok(layout) => layout,
    Err(_) => unreachable!(),
};
static KEPT: AtomicPtr<u8> = AtomicPtr::new(ptr::null_mut());

/// Allocates the reserve, unless it exists already. Returns whether it exists.
pub fn keep_reserve() -> bool {
    if !KEPT.load(Ordering::Acquire).is_null() {
        return true;
    }
    // SAFETY: the layout has a nonzero size.
    let new = unsafe { System.alloc(RESERVE) };
    let none = ptr::null_mut();
    let kept = KEPT.compare_exchange(none, new, Ordering::AcqRel, Ordering::Acquire);
    if kept.is_err() && !new.is_null() {
        // SAFETY: `new` was allocated above with this layout, and no other thread has seen it.
        unsafe { System.dealloc(new, RESERVE) };
    }
    kept.is_err() || !new.is_null()
}

/// Returns the reserve to the system. Returns whether it existed.
fn give_back() -> bool {
    let kept = KEPT.swap(ptr::null_mut(), Ordering::AcqRel);
    if !kept.is_null() {
        // SAFETY: `kept` was allocated with this layout, and the swap makes this thread its only
        // owner.
        unsafe { System.dealloc(kept, RESERVE) };
    }
    !kept.is_null()
}

/// Returns the result of `allocate`. If the allocation fails, ends the run of this thread; on a
/// thread without a run, releases the reserve and allocates again.
#[inline]
fn had(bytes: usize, allocate: impl Fn() -> *mut u8) -> *mut u8 {
    let array = allocate();
    if array.is_null() {
        return without(bytes, allocate);
    }
    advise(array, bytes);
    array
}

#[cold]
fn without(bytes: usize, allocate: impl Fn() -> *mut u8) -> *mut u8 {
    let given = give_back();
    worker::end(bytes);
    if given {
        allocate()
    } else {
        ptr::null_mut()
    }
}

/// Requests large pages for the part of an array that consists of whole large pages.
#[cfg(target_os = "linux")]
#[inline]
fn advise(array: *mut u8, bytes: usize) {
    if bytes >= PAGE {
        let before = (array as usize).wrapping_neg() % PAGE;
        let whole = bytes.saturating_sub(before) / PAGE * PAGE;
        // SAFETY: the range lies in the array, and the advice changes no content. A system without
        // large pages rejects the advice, which has no effect either.
        unsafe {
            libc::madvise(
                array.wrapping_add(before).cast(),
                whole,
                libc::MADV_HUGEPAGE,
            )
        };
    }
}

#[cfg(not(target_os = "linux"))]
#[inline]
fn advise(_: *mut u8, _: usize) {}

// SAFETY: all calls are passed on to the system's allocator.
unsafe impl GlobalAlloc for Allocator {
    #[inline]
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        had(layout.size(), || unsafe { System.alloc(layout) })
    }

    #[inline]
    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        had(layout.size(), || unsafe { System.alloc_zeroed(layout) })
    }

    #[inline]
    unsafe fn realloc(&self, array: *mut u8, layout: Layout, bytes: usize) -> *mut u8 {
        had(bytes, || unsafe { System.realloc(array, layout, bytes) })
    }

    #[inline]
    unsafe fn dealloc(&self, array: *mut u8, layout: Layout) {
        unsafe { System.dealloc(array, layout) }
    }
}

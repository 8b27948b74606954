//! The allocator: large arrays on large pages, and what happens when there is no memory.
//!
//! Every event looks at random places of tables that are megabytes long. On pages
//! of 4 KiB the processor must look for the page as well, and pages that follow each
//! other in a table may want the same lines of its cache (docs/performance.md).
//!
//! Where an allocation fails, Rust aborts the process. The hook in place of that is not
//! stable, and an allocator must not unwind. But it need not return: on the thread of a run
//! it says that memory has ended, and waits for good (`worker.rs`).
#![allow(unsafe_code)]

use crate::worker;
use std::alloc::{GlobalAlloc, Layout, System};
use std::ptr;
use std::sync::atomic::{AtomicPtr, Ordering};

/// The system's allocator, which asks for large pages where an array fills some.
struct Allocator;

#[global_allocator]
static ALLOCATOR: Allocator = Allocator;

/// Memory that was freed goes back to the system, which some allocators do not do by themselves.
pub fn trim() {
    #[cfg(all(target_os = "linux", target_env = "gnu"))]
    // SAFETY: it touches nothing that is in use.
    unsafe {
        libc::malloc_trim(0);
    }
}

/// Bytes of a large page of most processors.
#[cfg(target_os = "linux")]
const PAGE: usize = 2 << 20;

/// What is kept back, so that enough is left to say that memory has ended: addresses alone,
/// since nothing is written there. So large an array is a mapping of its own in any allocator,
/// and goes back to the system.
pub const RESERVE: Layout = match Layout::from_size_align(32 << 20, 16) {
    Ok(layout) => layout,
    Err(_) => unreachable!(),
};
static KEPT: AtomicPtr<u8> = AtomicPtr::new(ptr::null_mut());

/// Keeps the reserve back; says whether it is there.
pub fn keep_reserve() -> bool {
    if !KEPT.load(Ordering::Acquire).is_null() {
        return true;
    }
    // SAFETY: the layout has a size.
    let new = unsafe { System.alloc(RESERVE) };
    let none = ptr::null_mut();
    let kept = KEPT.compare_exchange(none, new, Ordering::AcqRel, Ordering::Acquire);
    if kept.is_err() && !new.is_null() {
        // SAFETY: it was allocated above, and nobody else has seen it.
        unsafe { System.dealloc(new, RESERVE) };
    }
    kept.is_err() || !new.is_null()
}

/// Gives the reserve back to the system; says whether it was there.
fn give_back() -> bool {
    let kept = KEPT.swap(ptr::null_mut(), Ordering::AcqRel);
    if !kept.is_null() {
        // SAFETY: it was allocated with this layout, and whoever swaps it out has it alone.
        unsafe { System.dealloc(kept, RESERVE) };
    }
    !kept.is_null()
}

/// Gives what `allocate` does. If that is nothing it ends the run, or without one tries again.
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

/// Asks for large pages for the whole ones of an array.
#[cfg(target_os = "linux")]
#[inline]
fn advise(array: *mut u8, bytes: usize) {
    if bytes >= PAGE {
        let before = (array as usize).wrapping_neg() % PAGE;
        let whole = bytes.saturating_sub(before) / PAGE * PAGE;
        // SAFETY: the range lies in the array, and the advice changes no content.
        // A system without large pages refuses, which changes nothing either.
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

// SAFETY: passes every call on to the system's allocator.
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

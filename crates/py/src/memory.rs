//! Large arrays on large pages.
//!
//! Every event looks at random places of tables that are megabytes long. On pages
//! of 4 KiB the processor must look for the page as well, and pages that follow each
//! other in a table may want the same lines of its cache (docs/performance.md).
#![allow(unsafe_code)]

use std::alloc::{GlobalAlloc, Layout, System};

/// The system's allocator, which asks for large pages where an array fills some.
struct LargePages;

#[global_allocator]
static ALLOCATOR: LargePages = LargePages;

/// Bytes of a large page of most processors.
const PAGE: usize = 2 << 20;

/// Asks for large pages for the whole ones of an array.
#[inline]
fn advise(array: *mut u8, bytes: usize) -> *mut u8 {
    if bytes >= PAGE && !array.is_null() {
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
    array
}

// SAFETY: passes every call on to the system's allocator.
unsafe impl GlobalAlloc for LargePages {
    #[inline]
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        advise(unsafe { System.alloc(layout) }, layout.size())
    }

    #[inline]
    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        advise(unsafe { System.alloc_zeroed(layout) }, layout.size())
    }

    #[inline]
    unsafe fn realloc(&self, array: *mut u8, layout: Layout, bytes: usize) -> *mut u8 {
        advise(unsafe { System.realloc(array, layout, bytes) }, bytes)
    }

    #[inline]
    unsafe fn dealloc(&self, array: *mut u8, layout: Layout) {
        unsafe { System.dealloc(array, layout) }
    }
}

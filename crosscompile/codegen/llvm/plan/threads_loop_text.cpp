#include "crosscompile/codegen/llvm/plan/runtime_text.h"

namespace ferry::codegen {

// Everything here runs under the mutex, except for the bodies of loops.
const char* const kThreadsLoopText = R"(
; Divides the iterations into shares of whole chunks, one for each thread; with fewer chunks than threads, the last ones
; are empty. Each thread has the same share in every loop of equal length.
define internal void @make_shares(ptr %p, i64 %n, i64 %grain) nounwind {
entry:
  %threads.at = getelementptr %pool, ptr %p, i32 0, i32 1
  %threads = load i64, ptr %threads.at
  %last = sub i64 %n, 1
  %before.last = sdiv i64 %last, %grain
  %chunks = add i64 %before.last, 1
  %each = sdiv i64 %chunks, %threads
  %larger = srem i64 %chunks, %threads
  br label %share
share:
  %i = phi i64 [ 0, %entry ], [ %i.next, %share ]
  %begin = phi i64 [ 0, %entry ], [ %end, %share ]
  %is.larger = icmp slt i64 %i, %larger
  %one = zext i1 %is.larger to i64
  %own = add i64 %each, %one
  %left = sub i64 %n, %begin
  %whole = sdiv i64 %left, %grain
  %is.last = icmp sgt i64 %own, %whole
  %iterations = mul i64 %own, %grain
  %sum = add i64 %begin, %iterations
  %end = select i1 %is.last, i64 %n, i64 %sum
  %worker = call ptr @worker_at(ptr %p, i64 %i)
  %next.at = getelementptr %worker, ptr %worker, i32 0, i32 3
  store i64 %begin, ptr %next.at
  %end.at = getelementptr %worker, ptr %worker, i32 0, i32 4
  store i64 %end, ptr %end.at
  %i.next = add i64 %i, 1
  %more = icmp slt i64 %i.next, %threads
  br i1 %more, label %share, label %done
done:
  ret void
}

; Takes half of what is left of the thread's own share at a time, at least the grain, and then helps with the shares of
; others, until nothing is left. The first result other than 0 ends the loop.
define internal void @run_chunks(ptr %p) nounwind {
entry:
  %mutex = getelementptr %pool, ptr %p, i32 0, i32 4
  %locked = call i32 @pthread_mutex_lock(ptr %mutex)
  %threads.at = getelementptr %pool, ptr %p, i32 0, i32 1
  %threads = load i64, ptr %threads.at
  %grain.at = getelementptr %pool, ptr %p, i32 0, i32 8
  %grain = load i64, ptr %grain.at
  %body.at = getelementptr %pool, ptr %p, i32 0, i32 9
  %body = load ptr, ptr %body.at
  %closure.at = getelementptr %pool, ptr %p, i32 0, i32 10
  %closure = load ptr, ptr %closure.at
  %result.at = getelementptr %pool, ptr %p, i32 0, i32 11
  %own = call i64 @thread_index()
  br label %share
share:
  %k = phi i64 [ 0, %entry ], [ %k.next, %next.share ]
  %sum = add i64 %own, %k
  %i = urem i64 %sum, %threads
  %worker = call ptr @worker_at(ptr %p, i64 %i)
  %next.at = getelementptr %worker, ptr %worker, i32 0, i32 3
  %end.at = getelementptr %worker, ptr %worker, i32 0, i32 4
  br label %chunk
chunk:
  %failed = load i32, ptr %result.at
  %has.failed = icmp ne i32 %failed, 0
  br i1 %has.failed, label %done, label %look
look:
  %begin = load i64, ptr %next.at
  %end = load i64, ptr %end.at
  %left = sub i64 %end, %begin
  %some = icmp sgt i64 %left, 0
  br i1 %some, label %take, label %next.share
take:
  %half = lshr i64 %left, 1
  %is.short = icmp slt i64 %half, %grain
  %size = select i1 %is.short, i64 %left, i64 %half
  %stop = add i64 %begin, %size
  store i64 %stop, ptr %next.at
  %unlocked = call i32 @pthread_mutex_unlock(ptr %mutex)
  %result = call i32 %body(i64 %begin, i64 %stop, ptr %closure)
  %locked.again = call i32 @pthread_mutex_lock(ptr %mutex)
  %is.fine = icmp eq i32 %result, 0
  br i1 %is.fine, label %chunk, label %fail
fail:
  %earlier = load i32, ptr %result.at
  %is.first = icmp eq i32 %earlier, 0
  %kept = select i1 %is.first, i32 %result, i32 %earlier
  store i32 %kept, ptr %result.at
  br label %done
next.share:
  %k.next = add i64 %k, 1
  %more = icmp slt i64 %k.next, %threads
  br i1 %more, label %share, label %done
done:
  %unlocked.last = call i32 @pthread_mutex_unlock(ptr %mutex)
  ret void
}
)";

}  // namespace ferry::codegen

#include "crosscompile/codegen/llvm/plan/runtime_text.h"

namespace ferry::codegen {

// The types of pthread are not known here; the members for them are larger than on any system. Everything else is read
// and written under the mutex. Shared libraries are linked without the C library, and glibc gives references without a
// version the oldest conditions it has, which allocate memory when they are first used. So they are used at the start.
// The C library has about 1.6 KB for the initial-exec variables of all libraries that a program loads at run time, so
// there is a single one of 4 bytes.
const char* const kThreadsText = R"(
; 128 bytes
%opaque = type { [16 x i64] }
; mark, threads, parallel_for, index of the calling thread; mutex, condition that a round begins, condition that it ends;
; of the loop: n, grain, body, closure, result; number of the round, workers in the loop, whether workers may join it,
; whether a caller uses the pool, whether workers must end
%pool = type { i64, i64, ptr, ptr, %opaque, %opaque, %opaque, i64, i64, ptr, ptr, i32, i32, i32, i32, i32, i32 }
; thread, pool, index; of the thread's share of the loop: next iteration, end
%worker = type { i64, ptr, i64, i64, i64 }

; 0 outside of loops, otherwise 1 + the index of the thread; workers are always inside
@inside = internal thread_local(initialexec) global i32 0

; The index of the calling thread: 0 of the caller, then 1, 2, ...
define internal i64 @thread_index() nounwind {
entry:
  %0 = call ptr @llvm.threadlocal.address.p0(ptr @inside)
  %1 = load i32, ptr %0
  %2 = call i32 @llvm.usub.sat.i32(i32 %1, i32 1)
  %3 = zext i32 %2 to i64
  ret i64 %3
}

; The data of thread i, behind the pool; thread 0 is the caller, of which only the share is used.
define internal ptr @worker_at(ptr %p, i64 %i) nounwind {
entry:
  %add.ptr = getelementptr i8, ptr %p, i64 1024
  %mul = mul i64 64, %i
  %add.ptr1 = getelementptr i8, ptr %add.ptr, i64 %mul
  ret ptr %add.ptr1
}

; A worker's thread: waits for a new round, and joins it if its loop is not over.
define internal ptr @work(ptr %argument) nounwind {
entry:
  %pool = getelementptr %worker, ptr %argument, i32 0, i32 1
  %0 = load ptr, ptr %pool
  %index = getelementptr %worker, ptr %argument, i32 0, i32 2
  %1 = load i64, ptr %index
  %2 = call ptr @llvm.threadlocal.address.p0(ptr @inside)
  %conv = trunc i64 %1 to i32
  %3 = add i32 %conv, 1
  store i32 %3, ptr %2
  %mutex = getelementptr %pool, ptr %0, i32 0, i32 4
  %call = call i32 @pthread_mutex_lock(ptr %mutex)
  br label %while.cond
while.cond:
  %seen.0 = phi i32 [ 0, %entry ], [ %7, %if.end21 ], [ %7, %if.end ]
  br label %while.cond1
while.cond1:
  %stopping = getelementptr %pool, ptr %0, i32 0, i32 16
  %4 = load i32, ptr %stopping
  %cmp = icmp eq i32 %4, 0
  br i1 %cmp, label %land.rhs, label %while.end
land.rhs:
  %round = getelementptr %pool, ptr %0, i32 0, i32 12
  %5 = load i32, ptr %round
  %cmp2 = icmp eq i32 %5, %seen.0
  br i1 %cmp2, label %while.body3, label %while.end
while.body3:
  %begin = getelementptr %pool, ptr %0, i32 0, i32 5
  %call5 = call i32 @pthread_cond_wait(ptr %begin, ptr %mutex)
  br label %while.cond1
while.end:
  %6 = load i32, ptr %stopping
  %cmp7 = icmp ne i32 %6, 0
  br i1 %cmp7, label %while.end22, label %if.end
if.end:
  %round8 = getelementptr %pool, ptr %0, i32 0, i32 12
  %7 = load i32, ptr %round8
  %open = getelementptr %pool, ptr %0, i32 0, i32 14
  %8 = load i32, ptr %open
  %cmp9 = icmp eq i32 %8, 0
  br i1 %cmp9, label %while.cond, label %if.end11
if.end11:
  %working = getelementptr %pool, ptr %0, i32 0, i32 13
  %9 = load i32, ptr %working
  %add = add i32 %9, 1
  store i32 %add, ptr %working
  %call13 = call i32 @pthread_mutex_unlock(ptr %mutex)
  call void @run_chunks(ptr %0)
  %call15 = call i32 @pthread_mutex_lock(ptr %mutex)
  %10 = load i32, ptr %working
  %sub = sub i32 %10, 1
  store i32 %sub, ptr %working
  %cmp18 = icmp eq i32 %sub, 0
  br i1 %cmp18, label %if.then19, label %if.end21
if.then19:
  %end = getelementptr %pool, ptr %0, i32 0, i32 6
  %call20 = call i32 @pthread_cond_broadcast(ptr %end)
  br label %if.end21
if.end21:
  br label %while.cond
while.end22:
  %call24 = call i32 @pthread_mutex_unlock(ptr %mutex)
  ret ptr null
}

; A nested loop, one that is too short, and one that comes while another uses the pool, run on the caller alone.
define internal i32 @parallel_for(ptr %p, i64 %n, i64 %grain, ptr %body, ptr %closure) nounwind {
entry:
  %0 = call ptr @llvm.threadlocal.address.p0(ptr @inside)
  %1 = load i32, ptr %0
  %cmp = icmp ne i32 %1, 0
  br i1 %cmp, label %if.then, label %lor.lhs.false
lor.lhs.false:
  %threads = getelementptr %pool, ptr %p, i32 0, i32 1
  %2 = load i64, ptr %threads
  %cmp1 = icmp eq i64 %2, 1
  %cmp3 = icmp sle i64 %n, %grain
  %or.cond = or i1 %cmp1, %cmp3
  br i1 %or.cond, label %if.then, label %if.end
if.then:
  %call = call i32 %body(i64 0, i64 %n, ptr %closure)
  br label %return
if.end:
  %mutex = getelementptr %pool, ptr %p, i32 0, i32 4
  %call4 = call i32 @pthread_mutex_lock(ptr %mutex)
  %busy = getelementptr %pool, ptr %p, i32 0, i32 15
  %3 = load i32, ptr %busy
  %cmp5 = icmp ne i32 %3, 0
  br i1 %cmp5, label %if.then6, label %if.end10
if.then6:
  %call8 = call i32 @pthread_mutex_unlock(ptr %mutex)
  %call9 = call i32 %body(i64 0, i64 %n, ptr %closure)
  br label %return
if.end10:
  store i32 1, ptr %busy
  %n12 = getelementptr %pool, ptr %p, i32 0, i32 7
  store i64 %n, ptr %n12
  %cmp13 = icmp sgt i64 %grain, 1
  %grain. = select i1 %cmp13, i64 %grain, i64 1
  %grain14 = getelementptr %pool, ptr %p, i32 0, i32 8
  store i64 %grain., ptr %grain14
  call void @make_shares(ptr %p, i64 %n, i64 %grain.)
  %body15 = getelementptr %pool, ptr %p, i32 0, i32 9
  store ptr %body, ptr %body15
  %closure16 = getelementptr %pool, ptr %p, i32 0, i32 10
  store ptr %closure, ptr %closure16
  %result = getelementptr %pool, ptr %p, i32 0, i32 11
  store i32 0, ptr %result
  %open = getelementptr %pool, ptr %p, i32 0, i32 14
  store i32 1, ptr %open
  %round = getelementptr %pool, ptr %p, i32 0, i32 12
  %4 = load i32, ptr %round
  %add = add i32 %4, 1
  store i32 %add, ptr %round
  %begin = getelementptr %pool, ptr %p, i32 0, i32 5
  %call17 = call i32 @pthread_cond_broadcast(ptr %begin)
  %call19 = call i32 @pthread_mutex_unlock(ptr %mutex)
  store i32 1, ptr %0
  call void @run_chunks(ptr %p)
  store i32 0, ptr %0
  %call21 = call i32 @pthread_mutex_lock(ptr %mutex)
  store i32 0, ptr %open
  br label %while.cond
while.cond:
  %working = getelementptr %pool, ptr %p, i32 0, i32 13
  %5 = load i32, ptr %working
  %cmp23 = icmp ne i32 %5, 0
  br i1 %cmp23, label %while.body, label %while.end
while.body:
  %end = getelementptr %pool, ptr %p, i32 0, i32 6
  %call25 = call i32 @pthread_cond_wait(ptr %end, ptr %mutex)
  br label %while.cond
while.end:
  %6 = load i32, ptr %result
  store i32 0, ptr %busy
  %call30 = call i32 @pthread_mutex_unlock(ptr %mutex)
  br label %return
return:
  %retval.0 = phi i32 [ %call, %if.then ], [ %call9, %if.then6 ], [ %6, %while.end ]
  ret i32 %retval.0
}

; Ends the workers below %started.
define internal void @stop(ptr %p, i64 %started) nounwind {
entry:
  %mutex = getelementptr %pool, ptr %p, i32 0, i32 4
  %call = call i32 @pthread_mutex_lock(ptr %mutex)
  %stopping = getelementptr %pool, ptr %p, i32 0, i32 16
  store i32 1, ptr %stopping
  %begin = getelementptr %pool, ptr %p, i32 0, i32 5
  %call1 = call i32 @pthread_cond_broadcast(ptr %begin)
  %call3 = call i32 @pthread_mutex_unlock(ptr %mutex)
  br label %for.cond
for.cond:
  %i.0 = phi i64 [ 1, %entry ], [ %inc, %for.body ]
  %cmp = icmp slt i64 %i.0, %started
  br i1 %cmp, label %for.body, label %for.end
for.body:
  %call4 = call ptr @worker_at(ptr %p, i64 %i.0)
  %0 = load ptr, ptr %call4
  %call5 = call i32 @pthread_join(ptr %0, ptr null)
  %inc = add i64 %i.0, 1
  br label %for.cond
for.end:
  %call7 = call i32 @pthread_cond_destroy(ptr %begin)
  %end = getelementptr %pool, ptr %p, i32 0, i32 6
  %call8 = call i32 @pthread_cond_destroy(ptr %end)
  %call10 = call i32 @pthread_mutex_destroy(ptr %mutex)
  store i64 0, ptr %p
  ret void
}

define i64 @NAME_threads_bytes(i32 %threads) nounwind {
entry:
  %cmp = icmp slt i32 %threads, 1
  %cmp1 = icmp sgt i32 %threads, 1024
  %or.cond = or i1 %cmp, %cmp1
  %conv = sext i32 %threads to i64
  %mul = mul i64 64, %conv
  %add = add i64 1024, %mul
  %retval.0 = select i1 %or.cond, i64 -9, i64 %add
  ret i64 %retval.0
}

define signext i32 @NAME_threads_start(ptr %p, i64 %bytes, i32 %threads) nounwind {
entry:
  %cmp = icmp eq ptr %p, null
  br i1 %cmp, label %return, label %if.end
if.end:
  %0 = ptrtoint ptr %p to i64
  %and = and i64 %0, 63
  %cmp1 = icmp ne i64 %and, 0
  br i1 %cmp1, label %return, label %if.end3
if.end3:
  %call = call i64 @NAME_threads_bytes(i32 %threads)
  %cmp4 = icmp slt i64 %call, 0
  %cmp5 = icmp slt i64 %bytes, %call
  %or.cond = or i1 %cmp4, %cmp5
  br i1 %or.cond, label %return, label %if.end7
if.end7:
  call void @llvm.memset.p0.i64(ptr %p, i8 0, i64 1024, i1 false)
  %mutex = getelementptr %pool, ptr %p, i32 0, i32 4
  %call8 = call i32 @pthread_mutex_init(ptr %mutex, ptr null)
  %begin = getelementptr %pool, ptr %p, i32 0, i32 5
  %call9 = call i32 @pthread_cond_init(ptr %begin, ptr null)
  %end = getelementptr %pool, ptr %p, i32 0, i32 6
  %call10 = call i32 @pthread_cond_init(ptr %end, ptr null)
  %allocates = call i32 @pthread_cond_broadcast(ptr %begin)
  %allocates1 = call i32 @pthread_cond_broadcast(ptr %end)
  %conv = sext i32 %threads to i64
  %threads11 = getelementptr %pool, ptr %p, i32 0, i32 1
  store i64 %conv, ptr %threads11
  %parallel_for = getelementptr %pool, ptr %p, i32 0, i32 2
  store ptr @parallel_for, ptr %parallel_for
  %index = getelementptr %pool, ptr %p, i32 0, i32 3
  store ptr @thread_index, ptr %index
  br label %for.cond
for.cond:
  %i.0 = phi i64 [ 1, %if.end7 ], [ %inc, %for.inc ]
  %retval.0 = phi i32 [ 0, %if.end7 ], [ %retval.1, %for.inc ]
  %cmp13 = icmp slt i64 %i.0, %conv
  br i1 %cmp13, label %for.body, label %cleanup22
for.body:
  %call15 = call ptr @worker_at(ptr %p, i64 %i.0)
  %pool = getelementptr %worker, ptr %call15, i32 0, i32 1
  store ptr %p, ptr %pool
  %index16 = getelementptr %worker, ptr %call15, i32 0, i32 2
  store i64 %i.0, ptr %index16
  %call17 = call i32 @pthread_create(ptr %call15, ptr null, ptr @work, ptr %call15)
  %cmp18 = icmp ne i32 %call17, 0
  br i1 %cmp18, label %if.then20, label %cleanup
if.then20:
  call void @stop(ptr %p, i64 %i.0)
  br label %cleanup
cleanup:
  %cleanup.dest.slot.0 = phi i32 [ 1, %if.then20 ], [ 0, %for.body ]
  %retval.1 = phi i32 [ -11, %if.then20 ], [ %retval.0, %for.body ]
  %cond24 = icmp eq i32 %cleanup.dest.slot.0, 0
  br i1 %cond24, label %for.inc, label %cleanup22
for.inc:
  %inc = add i64 %i.0, 1
  br label %for.cond
cleanup22:
  %cleanup.dest.slot.1 = phi i32 [ %cleanup.dest.slot.0, %cleanup ], [ 2, %for.cond ]
  %retval.2 = phi i32 [ %retval.1, %cleanup ], [ %retval.0, %for.cond ]
  %cond = icmp eq i32 %cleanup.dest.slot.1, 2
  br i1 %cond, label %for.end, label %return
for.end:
  store i64 7378429400505935921, ptr %p
  br label %return
return:
  %retval.4 = phi i32 [ -1, %entry ], [ -2, %if.end ], [ %retval.2, %cleanup22 ], [ 0, %for.end ], [ -9, %if.end3 ]
  ret i32 %retval.4
}

define void @NAME_threads_stop(ptr %p) nounwind {
entry:
  %cmp = icmp eq ptr %p, null
  br i1 %cmp, label %return, label %lor.lhs.false
lor.lhs.false:
  %0 = load i64, ptr %p
  %cmp1 = icmp ne i64 %0, 7378429400505935921
  br i1 %cmp1, label %return, label %if.end
if.end:
  %threads = getelementptr %pool, ptr %p, i32 0, i32 1
  %1 = load i64, ptr %threads
  call void @stop(ptr %p, i64 %1)
  br label %return
return:
  ret void
}

declare void @llvm.memset.p0.i64(ptr, i8, i64, i1)
declare i32 @pthread_mutex_init(ptr, ptr)
declare i32 @pthread_cond_init(ptr, ptr)
declare i32 @pthread_create(ptr, ptr, ptr, ptr)
declare ptr @llvm.threadlocal.address.p0(ptr)
declare i32 @llvm.usub.sat.i32(i32, i32)
declare i32 @pthread_mutex_lock(ptr)
declare i32 @pthread_mutex_unlock(ptr)
declare i32 @pthread_cond_broadcast(ptr)
declare i32 @pthread_cond_wait(ptr, ptr)
declare i32 @pthread_join(ptr, ptr)
declare i32 @pthread_cond_destroy(ptr)
declare i32 @pthread_mutex_destroy(ptr)
)";

}  // namespace ferry::codegen

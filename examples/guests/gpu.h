/* What a program on GPU lanes can ask for: imports from the module `gpu`. Each lane runs the whole program.

   Buffers are of 32-bit words, and an index counts words. An index past the end ends the lane.
   The entry is the function that PROGRAM names; what it returns is the lane's exit code. */

#ifndef GPU_H
#define GPU_H

#define PROGRAM(name) __attribute__((export_name("main"))) int name(void)
#define GPU(name) __attribute__((import_module("gpu"), import_name(#name)))

/* Who am I? */
GPU(thread_id) int thread_id(void);               /* this lane, from 0 */
GPU(thread_count) int thread_count(void);         /* of how many */
GPU(local_id) int local_id(void);                 /* this lane in its group, from 0 */
GPU(group_id) int group_id(void);                 /* the group */
GPU(threadgroup_size) int threadgroup_size(void); /* lanes in a group; the last group may have fewer */

/* Waiting for each other. Every lane of a group must come to a barrier, and to the same one. */
GPU(threadgroup_barrier) void threadgroup_barrier(void);
GPU(memory_barrier) void memory_barrier(void); /* what was written before is seen before what is written after */

/* The state, which all lanes share. */
GPU(read_state) int read_state(int index);
GPU(write_state) void write_state(int index, int value);
GPU(read_state_f32) float read_state_f32(int index);
GPU(write_state_f32) void write_state_f32(int index, float value);

/* The input, which is only read, and the output. */
GPU(read_input) int read_input(int index);
GPU(read_input_f32) float read_input_f32(int index);
GPU(write_output) void write_output(int index, int value);
GPU(write_output_f32) void write_output_f32(int index, float value);

/* Words of the group: 8,192 of them. */
GPU(read_shared) int read_shared(int index);
GPU(write_shared) void write_shared(int index, int value);
GPU(read_shared_f32) float read_shared_f32(int index);
GPU(write_shared_f32) void write_shared_f32(int index, float value);

/* Atomics on the state. Each gives what was there before. */
GPU(atomic_add) int atomic_add(int index, int value);
GPU(atomic_sub) int atomic_sub(int index, int value);
GPU(atomic_min) int atomic_min(int index, int value);
GPU(atomic_max) int atomic_max(int index, int value);
GPU(atomic_and) int atomic_and(int index, int value);
GPU(atomic_or) int atomic_or(int index, int value);
GPU(atomic_xor) int atomic_xor(int index, int value);
GPU(atomic_exchange) int atomic_exchange(int index, int value);
GPU(atomic_compare_exchange) int atomic_compare_exchange(int index, int expected, int value);
GPU(atomic_load) int atomic_load(int index);
GPU(atomic_store) void atomic_store(int index, int value);

/* Time since the start of the run: in seconds, in nanoseconds. */
GPU(time) float gpu_time(void);
GPU(time_ns) long long gpu_time_ns(void);

/* The picture. Colours are from 0 to 1; (0, 0) is at the top left. */
GPU(set_pixel) void set_pixel(int x, int y, float red, float green, float blue, float alpha);
GPU(screen_width) int screen_width(void);
GPU(screen_height) int screen_height(void);

/* Mathematics, under names that leave those of math.h free. */
GPU(sin) float gpu_sin(float x);
GPU(cos) float gpu_cos(float x);
GPU(tan) float gpu_tan(float x);
GPU(asin) float gpu_asin(float x);
GPU(acos) float gpu_acos(float x);
GPU(atan) float gpu_atan(float x);
GPU(atan2) float gpu_atan2(float y, float x);
GPU(sqrt) float gpu_sqrt(float x);
GPU(exp) float gpu_exp(float x);
GPU(log) float gpu_log(float x);
GPU(pow) float gpu_pow(float x, float y);
GPU(floor) float gpu_floor(float x);
GPU(ceil) float gpu_ceil(float x);
GPU(fabs) float gpu_fabs(float x);

/* Writing to the lane's standard output. */
GPU(debug_i32) void debug_i32(int value);
GPU(debug_f32) void debug_f32(float value);
GPU(debug_str) void debug_str(const char *text, int length);
GPU(debug_bool) void debug_bool(int value);
GPU(debug_newline) void debug_newline(void);
GPU(debug_flush) void debug_flush(void);

#endif

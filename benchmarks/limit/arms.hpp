// The table of a workload's arms, and the C functions through which it is read and run.
#pragma once
#include "chunked.hpp"
#include "chunkfill.hpp"
#include "frozen.hpp"
#include "refill.hpp"
#include "scalar.hpp"

struct Arm {
  const char* name;
  void (*float64)(Job<double>);
  void (*float32)(Job<float>);
};

#define SCALAR(W) {"scalar", run_scalar<double, W>, run_scalar<float, W>}
#define PLAIN(W) {"plain", run_plain<double, W>, run_plain<float, W>}
#define VEC(W, U) {"vec" #U, run_frozen<Doubles, W, false, U>, run_frozen<Floats, W, false, U>}
#define FAST(W, U) {"fast" #U, run_frozen<Doubles, W, true, U>, run_frozen<Floats, W, true, U>}
#define REFILL(W, U, B) \
  {"refill" #U "k" #B, run_refill<Doubles, W, false, U, B>, run_refill<Floats, W, false, U, B>}
#define CHUNKED(NAME, RUN, W, FAST, TEST, U, B) \
  {NAME #U "k" #B, RUN<Doubles, W, FAST, U, B, TEST>, RUN<Floats, W, FAST, U, B, TEST>}
#define CHUNK(W, U, B) CHUNKED("chunk", run_chunked, W, false, Test::EACH_STEP, U, B)
#define LAST(W, U, B) CHUNKED("last", run_chunked, W, false, Test::LAST, U, B)
#define FASTLAST(W, U, B) CHUNKED("fastlast", run_chunked, W, true, Test::LAST, U, B)
#define CHUNKFILL(W, U, B) CHUNKED("chunkfill", run_chunkfill, W, false, Test::EACH_STEP, U, B)
#define LASTFILL(W, U, B) CHUNKED("lastfill", run_chunkfill, W, false, Test::LAST, U, B)

extern const Arm ARMS[];
extern const int ARM_COUNT;

#define ARM_TABLE(...)              \
  const Arm ARMS[] = {__VA_ARGS__}; \
  const int ARM_COUNT = sizeof ARMS / sizeof *ARMS;

extern "C" {
int limit_arm_count() { return ARM_COUNT; }
const char* limit_arm_name(int arm) { return ARMS[arm].name; }
int limit_vector_bytes() { return sizeof(Doubles::R); }

void limit_run_float64(int arm, int64_t samples, int64_t cap, double** state, double** inputs,
                       const double* shared, uint8_t* done, int threads) {
  ARMS[arm].float64({samples, cap, state, inputs, shared, done, threads});
}
void limit_run_float32(int arm, int64_t samples, int64_t cap, float** state, float** inputs,
                       const double* shared, uint8_t* done, int threads) {
  ARMS[arm].float32({samples, cap, state, inputs, shared, done, threads});
}
}

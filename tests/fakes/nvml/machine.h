// The simulated machine behind the fake libnvidia-ml.so.1: the present scenario, whether the
// library is initialised, its handles, and the start of each call. Every C function of the fake
// goes through enter() or one of the answers below. Any thread.
#pragma once

#include <cstring>
#include <string>

#include "tests/fakes/nvml/scenario.h"
#include "tests/fakes/nvml/types.h"

#define FAKE_NVML_API extern "C" __attribute__((visibility("default")))

// Calls that return the number, or the text, of the key.
#define FAKE_NVML_NUMBER(function, type, key)                 \
  FAKE_NVML_API int function(FakeDevice* device, type* out) { \
    return answer_number(#function, device, key, out);        \
  }
#define FAKE_NVML_TEXT(function, key)                                          \
  FAKE_NVML_API int function(FakeDevice* device, char* out, unsigned length) { \
    return answer_text(#function, device, key, out, length);                   \
  }

struct FakeDevice {
  int gpu = 0;
  int mig = -1;  // -1: the GPU itself
};

namespace gpuward::fake_nvml {

constexpr int kNoGpu = -1;
constexpr int kMaxGpus = 64;
constexpr int kMaxMig = 8;

// Logs the call, reads the scenario if it changed, and applies its faults. Success means: continue.
[[nodiscard]] int enter(const char* function, int gpu);
// The same; NVML_ERROR_INVALID_ARGUMENT if it is not a handle of this library.
[[nodiscard]] int enter(const char* function, const FakeDevice* device);

[[nodiscard]] FakeDevice* handle_of(int gpu);
[[nodiscard]] FakeDevice* mig_handle_of(int gpu, int mig);

[[nodiscard]] Value value_of(const std::string& key);
[[nodiscard]] Value value_of(const FakeDevice* device, const std::string& key);
// The first of the two that a line sets.
[[nodiscard]] Value value_of(const FakeDevice* device, const std::string& key,
                             const std::string& otherwise);
// nvlink.LINK.KEY, then nvlink.*.KEY.
[[nodiscard]] Value value_of_link(const FakeDevice* device, unsigned link, const std::string& key);
// 0 with *number set, or an error code.
[[nodiscard]] int number_in(const Value& value, long long* number);
[[nodiscard]] int number_of(const FakeDevice* device, const std::string& key, long long* number);

// nvmlInit and nvmlShutdown, counted as in NVML.
int initialise();
int shut_down();
void log_line(const std::string& line);

// Writes into *out if the value is a number; otherwise returns an error code.
template <typename T>
[[nodiscard]] int read_number(const FakeDevice* device, const std::string& key, T* out) {
  long long number = 0;
  const int error = number_of(device, key, &number);
  if (error == kFakeSuccess) *out = static_cast<T>(number);
  return error;
}

// For the members of structures; some of them may be missing.
template <typename T>
void fill(const FakeDevice* device, const std::string& key, T* out) {
  (void)read_number(device, key, out);
}

template <typename T>
int answer_number(const char* function, const FakeDevice* device, const std::string& key, T* out) {
  if (const int error = enter(function, device)) return error;
  if (out == nullptr) return kFakeInvalidArgument;
  return read_number(device, key, out);
}

// The `version` of a structure, by which a library knows its length.
template <typename T>
constexpr unsigned version_of(unsigned number) {
  return sizeof(T) | (number << 24U);
}

// enter() for calls that fill such a structure; accepts only that version.
template <typename T>
[[nodiscard]] int enter(const char* function, const FakeDevice* device, const T& out,
                        unsigned version) {
  if (const int error = enter(function, device)) return error;
  return out.version == version_of<T>(version) ? kFakeSuccess : kFakeVersionMismatch;
}

int copy_text(const Value& value, char* out, unsigned length);
int answer_text(const char* function, const FakeDevice* device, const std::string& key, char* out,
                unsigned length);

}  // namespace gpuward::fake_nvml

// nvmlDeviceGetFieldValues of the fake libnvidia-ml.so.1.
#include <array>

#include "tests/fakes/nvml/machine.h"

namespace gpuward::fake_nvml {
namespace {

enum ValueType : int { kUnsigned = 1, kUnsignedLongLong = 3, kInt = 5 };

// Fields that have their own key; `per_link` takes the link from the scope.
struct Field {
  unsigned number;
  const char* key;
  bool per_link;
  ValueType type;
};
constexpr std::array kFields{
    Field{74, "slowdown.power", false, kUnsignedLongLong},
    Field{75, "slowdown.thermal", false, kUnsignedLongLong},
    Field{82, "temperature.memory", false, kUnsigned},
    Field{91, "nvlink.count", false, kUnsigned},
    Field{193, "temperature.shutdown_margin", false, kInt},
    Field{194, "temperature.slowdown_margin", false, kInt},
    Field{195, "temperature.memory_margin", false, kInt},
    Field{196, "temperature.gpu_margin", false, kInt},
    Field{215, "recovery_events", true, kUnsignedLongLong},
    Field{219, "effective_errors", true, kUnsignedLongLong},
    Field{221, "symbol_errors", true, kUnsignedLongLong},
    Field{222, "symbol_ber", true, kUnsignedLongLong},
    Field{230, "field.230", false, kUnsigned},
};

Field field_of(unsigned number) {
  for (const Field& field : kFields) {
    if (field.number == number) return field;
  }
  return {number, nullptr, false, kUnsignedLongLong};
}

int number_of_field(const FakeDevice* device, const Field& field, unsigned scope,
                    long long* number) {
  if (field.per_link) return number_in(value_of_link(device, scope, field.key), number);
  if (field.key != nullptr) return number_of(device, field.key, number);
  const std::string plain = "field." + std::to_string(field.number);
  return number_in(value_of(device, plain + "." + std::to_string(scope), plain), number);
}

void answer_field(const FakeDevice* device, FakeFieldValue& value) {
  const Field field = field_of(value.field);
  long long number = 0;
  value.result = number_of_field(device, field, value.scope, &number);
  value.value_type = field.type;
  // The real library's value without an answer is undefined.
  value.value.as_unsigned_long_long = 0x5A5A5A5A5A5A5A5AULL;
  if (value.result != kFakeSuccess) return;
  if (field.type == kUnsigned || field.type == kInt) {
    value.value.as_unsigned = static_cast<unsigned>(number);
  } else {
    value.value.as_unsigned_long_long = static_cast<unsigned long long>(number);
  }
}

}  // namespace

FAKE_NVML_API int nvmlDeviceGetFieldValues(FakeDevice* device, int count, FakeFieldValue* values) {
  if (const int error = enter("nvmlDeviceGetFieldValues", device)) return error;
  for (int i = 0; i < count; ++i) answer_field(device, values[i]);
  return kFakeSuccess;
}

}  // namespace gpuward::fake_nvml

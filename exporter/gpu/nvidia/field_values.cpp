#include "exporter/gpu/nvidia/field_values.h"

#include <cmath>
#include <utility>

namespace gpuward::exporter::nvml {
namespace {

Maybe<std::uint64_t> number_from_signed(std::int64_t raw) {
  if (raw < 0) return std::nullopt;
  return number_from(static_cast<std::uint64_t>(raw));
}

Maybe<std::uint64_t> number_from_double(double raw) {
  constexpr double kWholeNumbersEnd = 9007199254740992.0;  // 2^53
  if (std::isnan(raw) || raw < 0.0 || raw > kWholeNumbersEnd) return std::nullopt;
  return static_cast<std::uint64_t>(std::llround(raw));
}

Maybe<std::uint64_t> widened(Maybe<std::uint32_t> number) {
  if (!number) return std::nullopt;
  return *number;
}

}  // namespace

Maybe<std::uint64_t> number_in(const FieldValue& value) {
  if (value.result != kSuccess) return std::nullopt;
  switch (value.value_type) {
    case kTypeDouble:
      return number_from_double(value.value.as_double);
    case kTypeUnsigned:
      return widened(number_from(value.value.as_unsigned));
    case kTypeUnsignedLong:
      return number_from(value.value.as_unsigned_long);
    case kTypeUnsignedLongLong:
      return number_from(value.value.as_unsigned_long_long);
    case kTypeLongLong:
      return number_from_signed(value.value.as_long_long);
    case kTypeInt:
      if (value.value.as_int < 0) return std::nullopt;
      return widened(number_from(value.value.as_unsigned));
    case kTypeUnsignedShort:
      return value.value.as_unsigned_short;
    default:
      return std::nullopt;  // an integer from the library, not an enum of gpuward
  }
}

Maybe<double> celsius_in(const FieldValue& value) {
  if (value.result != kSuccess) return std::nullopt;
  switch (value.value_type) {
    case kTypeInt:
    case kTypeUnsigned:  // the same bits: NVML documents no type for these fields
      return celsius_from(value.value.as_int);
    case kTypeLongLong:
    case kTypeUnsignedLongLong:
      if (!std::in_range<std::int32_t>(value.value.as_long_long)) return std::nullopt;
      return celsius_from(static_cast<std::int32_t>(value.value.as_long_long));
    default:
      return std::nullopt;
  }
}

namespace {

std::vector<FieldValue> ask_fields(DeviceQuery& query, std::span<const FieldKey> keys) {
  std::vector<FieldValue> values(keys.size());
  for (std::size_t i = 0; i < keys.size(); ++i) {
    values[i].field = keys[i].field;
    values[i].scope = keys[i].scope;
    values[i].result = kNotSupported;  // for a library that does not set all of them
  }
  const auto count = static_cast<std::int32_t>(values.size());
  const bool tells = query.tells(query.symbols().field_values, count, values.data());
  for (FieldValue& value : values) {
    if (!tells) value.result = kNotSupported;
    query.note(value.result, query.symbols().field_values.name());
  }
  return values;
}

}  // namespace

std::vector<Maybe<std::uint64_t>> read_fields(DeviceQuery& query, std::span<const FieldKey> keys) {
  std::vector<Maybe<std::uint64_t>> numbers;
  for (const FieldValue& value : ask_fields(query, keys)) numbers.push_back(number_in(value));
  return numbers;
}

std::vector<Maybe<double>> read_celsius_fields(DeviceQuery& query, std::span<const FieldKey> keys) {
  std::vector<Maybe<double>> numbers;
  for (const FieldValue& value : ask_fields(query, keys)) numbers.push_back(celsius_in(value));
  return numbers;
}

Maybe<std::uint64_t> read_field(DeviceQuery& query, std::uint32_t field) {
  const FieldKey key{field};
  return read_fields(query, {&key, 1}).front();
}

}  // namespace gpuward::exporter::nvml

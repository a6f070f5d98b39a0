// A report in which every field has its own value, and a comparison of two reports field by field.
// Both use visit_fields(), so that no test of the protocol forgets a field. Used by the tests of
// the worker.
#pragma once

#include <chrono>
#include <string>
#include <vector>

#include "exporter/gpu/worker/message_fields.h"

namespace gpuward::exporter {

// Gives each field another value than any before it.
class Filler {
 public:
  template <typename T>
  void operator()(std::string_view /*name*/, T& field) {
    fill(field);
  }

  template <typename T>
  void fill(T& value) {
    ++number_;
    if constexpr (std::is_same_v<T, std::string>) {
      value = "text " + std::to_string(number_);
    } else if constexpr (std::is_same_v<T, bool>) {
      value = true;
    } else if constexpr (std::is_floating_point_v<T>) {
      value = number_ + 0.25;
    } else if constexpr (std::is_arithmetic_v<T>) {
      value = static_cast<T>(number_);
    } else if constexpr (std::is_enum_v<T>) {
      value = kLast<T>;
    } else if constexpr (std::is_same_v<T, PciAddress>) {
      value = {static_cast<std::uint32_t>(number_), 0x4e, 0x1f, 1};
    } else if constexpr (std::is_same_v<T, WallClock>) {
      value = WallClock(std::chrono::milliseconds(1'763'700'000'000 + number_));
    } else if constexpr (kIsMaybe<T>) {
      fill(value.emplace());
    } else if constexpr (kIsList<T>) {
      for (int i = 0; i < 2; ++i) fill(value.emplace_back());
    } else {
      visit_fields(value, *this);
    }
  }

 private:
  int number_ = 0;
};

template <typename T>
[[nodiscard]] T filled() {
  T value;
  Filler().fill(value);
  return value;
}

// Turns all fields of a value into text, a field a line.
class Teller {
 public:
  template <typename T>
  void operator()(std::string_view name, const T& field) {
    text += std::string(name) + "=";
    tell(field);
  }

  template <typename T>
  void tell(const T& value) {
    if constexpr (std::is_same_v<T, std::string>) {
      text += value + "\n";
    } else if constexpr (std::is_arithmetic_v<T>) {
      text += std::to_string(value) + "\n";
    } else if constexpr (std::is_enum_v<T>) {
      text += std::to_string(static_cast<int>(value)) + "\n";
    } else if constexpr (std::is_same_v<T, PciAddress>) {
      text += value.full() + "\n";
    } else if constexpr (std::is_same_v<T, WallClock>) {
      text += std::to_string(value.time_since_epoch().count()) + "\n";
    } else if constexpr (kIsMaybe<T>) {
      value ? tell(*value) : void(text += "absent\n");
    } else if constexpr (kIsList<T>) {
      text += "[\n";
      for (const auto& item : value) tell(item);
      text += "]\n";
    } else {
      text += "{\n";
      visit_fields(value, *this);
      text += "}\n";
    }
  }

  std::string text;
};

template <typename T>
[[nodiscard]] std::string told(const T& value) {
  Teller teller;
  teller.tell(value);
  return teller.text;
}

}  // namespace gpuward::exporter

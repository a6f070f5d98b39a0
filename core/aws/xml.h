// The one door to pugixml: a document as a tree of plain values. Answers of AWS's query protocol
// are small and come from whoever answers, so that size and depth have caps. Used inside core/aws
// and by those who read such answers.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "core/model/result.h"

namespace gpuward::aws {

struct XmlElement {
  std::string name;  // without a namespace's prefix
  std::string text;  // of its own, without the blanks around it
  std::vector<XmlElement> children;

  // The first child of that name; an empty element where there is none, so that looks can be
  // chained.
  [[nodiscard]] const XmlElement& child(std::string_view name) const;
  // `reservationSet/item/instanceId`: the text of the first of each; empty where there is none.
  [[nodiscard]] const std::string& text_at(std::string_view path) const;
};

constexpr std::size_t kLargestXml = 4U << 20U;

// The root element. kInvalid with the byte offset of the fault, kTooLarge where a cap is passed.
// Document types and their entities are not read.
[[nodiscard]] Result<XmlElement> parse_xml(std::string_view text,
                                           std::size_t max_bytes = kLargestXml);

}  // namespace gpuward::aws

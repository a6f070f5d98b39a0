// The only use of pugixml: a document as a tree of plain values. Responses of AWS's query protocol
// are small but come from an untrusted peer, so size and depth are capped. Used inside core/aws and
// by the readers of such responses.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "core/model/result.h"

namespace gpuward::aws {

struct XmlElement {
  std::string name;  // without a namespace's prefix
  std::string text;  // its own, without surrounding blanks
  std::vector<XmlElement> children;

  // Returns the first child of that name, or an empty element, so that calls can be chained.
  [[nodiscard]] const XmlElement& child(std::string_view name) const;
  // `reservationSet/item/instanceId`: the text below the first child of each name; empty if one is
  // missing.
  [[nodiscard]] const std::string& text_at(std::string_view path) const;
};

constexpr std::size_t kLargestXml = 4U << 20U;

// Returns the root element. kInvalid with the byte offset of the fault, kTooLarge beyond a cap.
// Document types and their entities are not read.
[[nodiscard]] Result<XmlElement> parse_xml(std::string_view text,
                                           std::size_t max_bytes = kLargestXml);

}  // namespace gpuward::aws

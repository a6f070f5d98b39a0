#include "core/aws/xml.h"

#include <algorithm>
#include <pugixml.hpp>

#include "core/runtime/text.h"

namespace gpuward::aws {
namespace {

constexpr int kDeepest = 32;

std::string_view without_prefix(std::string_view name) {
  const std::size_t colon = name.find(':');
  return colon == std::string_view::npos ? name : name.substr(colon + 1);
}

bool copy(const pugi::xml_node& from, XmlElement& to, int depth) {
  if (depth > kDeepest) return false;
  to.name = without_prefix(from.name());
  to.text = trim(from.child_value());
  for (const pugi::xml_node& child : from.children()) {
    if (child.type() != pugi::node_element) continue;
    if (!copy(child, to.children.emplace_back(), depth + 1)) return false;
  }
  return true;
}

}  // namespace

const XmlElement& XmlElement::child(std::string_view wanted) const {
  static const XmlElement kNone;
  const auto found = std::ranges::find(children, wanted, &XmlElement::name);
  return found == children.end() ? kNone : *found;
}

const std::string& XmlElement::text_at(std::string_view path) const {
  const std::size_t slash = path.find('/');
  const XmlElement& next = child(path.substr(0, slash));
  return slash == std::string_view::npos ? next.text : next.text_at(path.substr(slash + 1));
}

Result<XmlElement> parse_xml(std::string_view text, std::size_t max_bytes) {
  if (text.size() > max_bytes)
    return fail(ErrorKind::kTooLarge, "an XML document that is too large");
  pugi::xml_document document;
  const auto parsed =
      document.load_buffer(text.data(), text.size(), pugi::parse_default | pugi::parse_trim_pcdata);
  if (!parsed) {
    return fail(ErrorKind::kInvalid, std::string("not XML: ") + parsed.description() + " at byte " +
                                         std::to_string(parsed.offset));
  }
  XmlElement root;
  if (!copy(document.document_element(), root, 1))
    return fail(ErrorKind::kTooLarge, "an XML document that is too deeply nested");
  return root;
}

}  // namespace gpuward::aws

#include "core/http/syntax/url.h"

#include <algorithm>
#include <optional>

#include "core/http/syntax/headers.h"
#include "core/runtime/encoding.h"

namespace gpuward::http {
namespace {

bool is_unreserved(char c) {
  return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-' ||
         c == '.' || c == '_' || c == '~';
}

void append_escape(std::string& out, char c) {
  constexpr std::string_view kDigits = "0123456789ABCDEF";
  const auto byte = static_cast<unsigned char>(c);
  out += '%';
  out += kDigits[byte >> 4U];
  out += kDigits[byte & 0xFU];
}

std::string encode(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  for (const char c : text) {
    if (is_unreserved(c)) {
      out += c;
    } else {
      append_escape(out, c);
    }
  }
  return out;
}

// Returns the byte that a %XX at the beginning of `text` encodes.
std::optional<char> escaped_byte(std::string_view text) {
  if (text.size() < 3 || text[0] != '%') return std::nullopt;
  const auto byte = from_hex(text.substr(1, 2));
  return byte ? std::optional(byte->front()) : std::nullopt;
}

std::string decode_form(std::string_view text) {
  std::string out;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (const auto byte = escaped_byte(text.substr(i))) {
      out += *byte;
      i += 2;
    } else {
      out += text[i] == '+' ? ' ' : text[i];
    }
  }
  return out;
}

void append_segment(std::vector<std::string_view>& kept, std::string_view segment, bool last) {
  if (segment == ".." && !kept.empty()) kept.pop_back();
  if (segment != "." && segment != "..") {
    kept.push_back(segment);
  } else if (last) {
    kept.emplace_back();  // "/a/b/.." is "/a/", not "/a"
  }
}

std::string resolve_dots(std::string_view path) {
  std::vector<std::string_view> kept;
  std::string_view rest = path.substr(1);
  for (bool last = false; !last;) {
    const auto slash = rest.find('/');
    last = slash == std::string_view::npos;
    append_segment(kept, rest.substr(0, slash), last);
    if (!last) rest.remove_prefix(slash + 1);
  }
  std::string out;
  for (const std::string_view segment : kept) out.append("/").append(segment);
  return out.empty() ? "/" : out;
}

}  // namespace

std::string encode_path_segment(std::string_view text) {
  if (text == ".") return "%2E";
  if (text == "..") return "%2E%2E";
  return encode(text);
}

std::string encode_query_value(std::string_view text) { return encode(text); }

Result<std::string> decode_percent(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '%') {
      out += text[i];
      continue;
    }
    const auto byte = escaped_byte(text.substr(i));
    if (!byte) return fail(ErrorKind::kInvalid, "'%' must be followed by two hexadecimal digits");
    if (*byte == '\0') return fail(ErrorKind::kInvalid, "%00 is not allowed");
    out += *byte;
    i += 2;
  }
  return out;
}

Result<std::string> normalise_path(std::string_view raw) {
  if (!raw.starts_with('/')) return fail(ErrorKind::kInvalid, "a path must begin with '/'");
  auto decoded = decode_percent(raw);
  if (!decoded) return decoded;
  const bool has_control = std::ranges::any_of(
      *decoded, [](char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7F; });
  if (has_control) return fail(ErrorKind::kInvalid, "control characters are not allowed in a path");
  return resolve_dots(*decoded);
}

Result<RequestTarget> split_target(std::string_view target) {
  RequestTarget parts;
  for (const std::string_view scheme : {"http://", "https://"}) {
    if (!same_name(target.substr(0, scheme.size()), scheme)) continue;
    target.remove_prefix(scheme.size());
    parts.authority = target.substr(0, target.find_first_of("/?"));
    target.remove_prefix(parts.authority.size());
    if (parts.authority.empty() || parts.authority.contains('@'))
      return fail(ErrorKind::kInvalid, "the target names no host, or a user");
    break;
  }
  const auto question = target.find('?');
  parts.path = target.substr(0, question);
  if (question != std::string_view::npos) parts.query = target.substr(question + 1);
  if (parts.path.empty() && !parts.authority.empty()) parts.path = "/";
  if (!parts.path.starts_with('/'))
    return fail(ErrorKind::kInvalid, "a target must be a path or a URL");
  return parts;
}

Query parse_query(std::string_view text) {
  Query query;
  while (!text.empty()) {
    const std::string_view pair = text.substr(0, text.find('&'));
    text.remove_prefix(std::min(pair.size() + 1, text.size()));
    if (pair.empty()) continue;
    const auto equals = pair.find('=');
    const auto value =
        equals == std::string_view::npos ? std::string_view{} : pair.substr(equals + 1);
    query.emplace_back(decode_form(pair.substr(0, equals)), decode_form(value));
  }
  return query;
}

std::string query_value(const Query& query, std::string_view name) {
  const auto found =
      std::ranges::find_if(query, [name](const auto& pair) { return pair.first == name; });
  return found == query.end() ? std::string{} : found->second;
}

std::string build_query(const Query& query) {
  std::string out;
  for (const auto& [name, value] : query) {
    if (!out.empty()) out += '&';
    out.append(encode(name)).append("=").append(encode(value));
  }
  return out;
}

}  // namespace gpuward::http

#include "remediator/inbox/triage/question.h"

#include <algorithm>
#include <array>

#include "core/runtime/text.h"
#include "core/xid/parser.h"

namespace gpuward::remediator {
namespace {

constexpr std::array<std::string_view, 13> kSecretNames{
    "password", "passwd", "passphrase", "secret", "token",         "api_key",   "apikey",
    "api-key",  "bearer", "basic",      "auth",   "authorization", "credential"};
// Fields in which the driver writes about a process; the process may choose their content.
constexpr std::array<std::string_view, 3> kNames{"pid=", "name=", "comm="};
constexpr std::size_t kShortestKey = 20;
constexpr std::size_t kLongNumber = 6;

bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_hex(char c) { return is_digit(c) || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F'); }
bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }
bool is_of_address(char c) { return is_hex(c) || c == ':' || c == '.'; }
bool is_of_key(char c) {
  return is_digit(c) || is_letter(c) || c == '+' || c == '/' || c == '=' || c == '_' || c == '-';
}

std::string printable(std::string_view text) {
  std::string out;
  for (const char c : text) {
    const bool is_blank = c <= ' ' || c > '~';
    if (is_blank && (out.empty() || out.back() == ' ')) continue;
    out += is_blank ? ' ' : c;
  }
  return out;
}

std::string_view leading(std::string_view text, bool (*is_of)(char)) {
  const auto end = std::ranges::find_if_not(text, is_of);
  return text.substr(0, static_cast<std::size_t>(end - text.begin()));
}

// Tokens, hashes, UUIDs and the like: long, and not a natural word.
bool looks_like_key(std::string_view run) {
  if (run.size() < kShortestKey) return false;
  const bool is_of_aws = run.starts_with("AKIA") || run.starts_with("ASIA");
  return is_of_aws || std::ranges::count_if(run, is_digit) >= 3 ||
         std::ranges::all_of(run, is_hex) || run.size() >= 2 * kShortestKey;
}

// Addresses of PCI, of hardware and of IP.
bool looks_like_address(std::string_view run) {
  const auto dots = std::ranges::count(run, '.');
  const auto colons = std::ranges::count(run, ':');
  return colons >= 2 || (dots == 3 && colons <= 1 && is_digit(run.front()));
}

// Returns the length of the leading part of `rest` that must not leave the cluster; 0 if none.
std::size_t nameless_length(std::string_view rest) {
  if (const auto run = leading(rest, is_of_key); looks_like_key(run)) return run.size();
  if (const auto run = leading(rest, is_of_address); looks_like_address(run)) return run.size();
  if (rest.starts_with("0x")) return 2 + leading(rest.substr(2), is_hex).size();
  const auto digits = leading(rest, is_digit);
  return digits.size() >= kLongNumber ? digits.size() : 0;
}

std::string without_ids(std::string_view word) {
  if (word.contains("://")) return "[address]";
  if (word.contains('@')) return "[address]";
  for (const std::string_view name : kNames) {
    if (word.starts_with(name)) return std::string(name) + (word.ends_with(',') ? "#," : "#");
  }
  std::string out;
  while (!word.empty()) {
    const std::size_t length = nameless_length(word);
    out += length > 0 ? '#' : word.front();
    word.remove_prefix(std::max<std::size_t>(1, length));
  }
  return out;
}

// Returns where the name of a secret ends in `word`: `--api-key=abc`, `"token":"abc"`, `Bearer`. 0
// if it contains none.
std::size_t end_of_secret_name(std::string_view word) {
  const std::string small = to_lower(word);
  std::size_t end = 0;
  for (const std::string_view name : kSecretNames) {
    const auto at = small.find(name);
    if (at != std::string::npos) end = std::max(end, at + name.size());
  }
  return end;
}

}  // namespace

std::string question_of(std::string_view line, std::size_t most) {
  const std::string text = printable(xid::strip_prefixes(line.substr(0, kLongestLine)));
  std::string out;
  bool is_secret = false;  // the word before named a secret
  for (std::string_view rest = text; !rest.empty();) {
    const std::string_view word = rest.substr(0, rest.find(' '));
    rest.remove_prefix(std::min(rest.size(), word.size() + 1));
    if (word.empty()) continue;
    if (!out.empty()) out += ' ';
    const std::size_t named = end_of_secret_name(word);
    const auto value = word.find_first_of("=:", named);
    const bool holds_it = named > 0 && value != std::string_view::npos && value + 1 < word.size();
    const bool is_taint_or_cordon = word == "=" || word == ":";
    if (is_secret && !is_taint_or_cordon) {
      out += "[secret]";
    } else if (holds_it) {
      out += without_ids(word.substr(0, named)) + "=[secret]";
    } else {
      out += without_ids(word);
    }
    is_secret = (is_secret && is_taint_or_cordon) || (named > 0 && !holds_it);
  }
  return out.substr(0, most);
}

}  // namespace gpuward::remediator

#include "exporter/kernel_log/line_rules.h"

#include <re2/re2.h>
#include <re2/set.h>

#include <algorithm>
#include <utility>

namespace gpuward::exporter {
namespace {

constexpr std::size_t kMostRules = 128;
constexpr std::size_t kMostPatternBytes = 1024;
// The limit for all patterns together with the states of matching; and for one pattern in its
// check.
constexpr std::int64_t kMostMemory = 8LL << 20U;

// Byte by byte: a line of the log need not be UTF-8, and `.` matches any byte of it.
RE2::Options options() {
  RE2::Options options;
  options.set_encoding(RE2::Options::EncodingLatin1);
  options.set_log_errors(false);
  options.set_max_mem(kMostMemory);
  return options;
}

std::unexpected<Error> needs_too_much() {
  return fail(ErrorKind::kInvalid,
              "the patterns need more than 8 MiB of memory together: use fewer, or smaller counts "
              "in {}");
}

}  // namespace

struct LineRules::Compiled {
  explicit Compiled(std::vector<LineRule> all)
      : rules(std::move(all)), set(options(), RE2::UNANCHORED) {}
  std::vector<LineRule> rules;
  RE2::Set set;
};

xid::Assessment verdict_of(const LineRule& rule) {
  return {.severity = rule.severity,
          .cleared_by = rule.cleared_by,
          .why = "a rule of kernel_log.rules matches the line",
          .source = "rule"};
}

std::optional<std::string> fault_of_pattern(const std::string& pattern) {
  if (pattern.size() > kMostPatternBytes)
    return "is longer than " + std::to_string(kMostPatternBytes) + " bytes: shorten it";
  const RE2 compiled(pattern, options());
  if (!compiled.ok())
    return "is not a valid RE2 regular expression (" + compiled.error() +
           "): RE2 has no look-arounds and no back-references";
  if (RE2::PartialMatch("", compiled))
    return "matches an empty line and therefore every line; make the pattern more specific";
  return std::nullopt;
}

Result<LineRules> LineRules::compile(std::vector<LineRule> rules) {
  if (rules.empty()) return LineRules();
  if (rules.size() > kMostRules)
    return fail(ErrorKind::kInvalid,
                "there are more than " + std::to_string(kMostRules) + " rules");
  auto compiled = std::make_shared<Compiled>(std::move(rules));
  for (const LineRule& rule : compiled->rules) {
    if (const auto fault = fault_of_pattern(rule.pattern))
      return fail(ErrorKind::kInvalid, "the pattern of " + rule.code + " " + *fault);
    compiled->set.Add(rule.pattern, nullptr);
  }
  if (!compiled->set.Compile()) return needs_too_much();
  // RE2 allocates the first states at the first match.
  std::vector<int> matches;
  RE2::Set::ErrorInfo error{};
  compiled->set.Match("a line", &matches, &error);
  if (error.kind != RE2::Set::kNoError) return needs_too_much();
  LineRules made;
  made.compiled_ = std::move(compiled);
  return made;
}

const std::vector<LineRule>& LineRules::all() const {
  static const std::vector<LineRule> kNone;
  return compiled_ ? compiled_->rules : kNone;
}

std::vector<std::reference_wrapper<const LineRule>> LineRules::match(
    std::string_view message) const {
  std::vector<std::reference_wrapper<const LineRule>> found;
  std::vector<int> matches;
  if (!compiled_ || !compiled_->set.Match({message.data(), message.size()}, &matches)) return found;
  std::ranges::sort(matches);
  for (const int number : matches) {
    const LineRule& rule = compiled_->rules[static_cast<std::size_t>(number)];
    const bool is_said =
        std::ranges::any_of(found, [&](const LineRule& other) { return other.code == rule.code; });
    if (!is_said) found.emplace_back(rule);
  }
  return found;
}

}  // namespace gpuward::exporter

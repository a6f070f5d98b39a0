#include "core/aws/profile.h"

#include <filesystem>
#include <optional>

#include "core/runtime/files.h"
#include "core/runtime/text.h"

namespace gpuward::aws {
namespace {

std::unexpected<Error> bad_line(std::size_t number, std::string_view why) {
  // Never quotes the line itself: it may be a key.
  return fail(ErrorKind::kInvalid, "line " + std::to_string(number) + ": " + std::string(why));
}

// `profile  gpu` is `profile gpu`.
std::string section_name(std::string_view inside) {
  std::string name(trim(inside));
  const std::size_t blank = name.find_first_of(" \t");
  if (blank == std::string::npos) return name;
  return name.substr(0, blank) + " " + std::string(trim(std::string_view(name).substr(blank)));
}

std::filesystem::path file_of(const AwsEnvironment& environment, const char* variable,
                              const char* usual) {
  std::string given = environment.at(variable);
  if (!given.empty()) return given;
  const std::string home = environment.at("HOME");
  return home.empty() ? std::filesystem::path() : std::filesystem::path(home) / ".aws" / usual;
}

Result<ProfileSections> read_sections(const std::filesystem::path& path) {
  if (path.empty()) return ProfileSections{};
  const auto text = read_file(path);
  if (!text && text.error().kind == ErrorKind::kNotFound) return ProfileSections{};
  if (!text) return std::unexpected(text.error());
  auto sections = parse_profiles(*text);
  if (!sections) return with_context(path.string(), sections.error());
  return sections;
}

std::string profile_name(const AwsEnvironment& environment) {
  const std::string name = environment.at("AWS_PROFILE");
  return name.empty() ? environment.at("AWS_DEFAULT_PROFILE") : name;
}

void add_missing(const ProfileSections& from, const std::string& section,
                 std::optional<Profile>& to) {
  const auto found = from.find(section);
  if (found == from.end()) return;
  if (!to) to.emplace();
  to->insert(found->second.begin(), found->second.end());
}

}  // namespace

Result<ProfileSections> parse_profiles(std::string_view text) {
  ProfileSections sections;
  Profile* section = nullptr;
  std::size_t number = 0;
  while (!text.empty()) {
    ++number;
    const std::size_t end = std::min(text.find('\n'), text.size());
    const std::string_view raw = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    const std::string_view line = trim(raw);
    if (line.empty() || line.front() == '#' || line.front() == ';') continue;
    if (line.front() == '[') {
      if (line.back() != ']') return bad_line(number, "a section header without the closing ]");
      section = &sections[section_name(line.substr(1, line.size() - 2))];
      continue;
    }
    if (raw.front() == ' ' || raw.front() == '\t') continue;
    const std::size_t equals = line.find('=');
    if (equals == std::string_view::npos)
      return bad_line(number, "expected [section] or key = value");
    if (section == nullptr) return bad_line(number, "a key before the first [section]");
    (*section)[std::string(trim(line.substr(0, equals)))] = trim(line.substr(equals + 1));
  }
  return sections;
}

Result<Profile> read_profile(const AwsEnvironment& environment) {
  const auto config = read_sections(file_of(environment, "AWS_CONFIG_FILE", "config"));
  if (!config) return std::unexpected(config.error());
  const auto keys =
      read_sections(file_of(environment, "AWS_SHARED_CREDENTIALS_FILE", "credentials"));
  if (!keys) return std::unexpected(keys.error());
  const std::string asked = profile_name(environment);
  const std::string name = asked.empty() ? "default" : asked;
  std::optional<Profile> profile;
  add_missing(*keys, name, profile);
  add_missing(*config, "profile " + name, profile);
  if (name == "default") add_missing(*config, name, profile);
  if (profile) return *profile;
  if (asked.empty()) return Profile{};
  return fail(ErrorKind::kInvalid,
              "AWS_PROFILE is " + asked +
                  ", but the AWS config and credentials files have no profile of that name");
}

}  // namespace gpuward::aws

#include <algorithm>
#include <array>
#include <map>
#include <regex>
#include <span>
#include <sstream>

#include "tests/architecture/rules.h"

namespace gpuward::architecture {
namespace {

constexpr std::size_t kMostMethods = 15;
constexpr std::size_t kMostLines = 300;

struct Type {
  const SourceFile* file = nullptr;
  std::string name;
  std::size_t line = 0;
  std::string_view body;  // of the blanked code, from its name to its last brace
};

std::size_t end_of_braces(std::string_view code, std::size_t open) {
  std::size_t depth = 0;
  for (std::size_t i = open; i < code.size(); ++i) {
    if (code[i] == '{') ++depth;
    if (code[i] == '}' && --depth == 0) return i + 1;
  }
  return code.size();
}

std::vector<Type> types_in(const SourceFile& file) {
  static const std::regex kType(
      R"(\b(class|struct)\s+(?:alignas\([^)]*\)\s+)?(?:\w+::)*(\w+)(?:\s+final)?\s*(?::(?!:)[^;{]*)?\{)");
  std::vector<Type> types;
  for (std::sregex_iterator match(file.code.begin(), file.code.end(), kType), end; match != end;
       ++match) {
    const auto begin = static_cast<std::size_t>(match->position());
    const std::string_view code(file.code);
    if (code.substr(0, begin).ends_with("enum ")) continue;
    const std::size_t open = begin + static_cast<std::size_t>(match->length()) - 1;
    const std::size_t close = end_of_braces(code, open);
    types.push_back(
        {&file, (*match)[2], line_at(file.code, begin), code.substr(begin, close - begin)});
  }
  return types;
}

// The declarations in the braces of the type itself, without bodies and without the angle brackets
// of templates.
std::vector<std::string> declarations_of(const Type& type) {
  std::vector<std::string> declarations(1);
  std::size_t depth = 0, angles = 0;
  for (const char c : type.body.substr(type.body.find('{'))) {
    if (c == '}') --depth;
    const bool is_own = depth == 1 && c != '}';
    if (is_own && c == '<') ++angles;
    const bool ends = depth == 1 && (c == ';' || c == '}');
    if (ends) {
      declarations.emplace_back();
      angles = 0;
    } else if (is_own && angles == 0) {
      declarations.back() += c;
    }
    if (is_own && c == '>' && angles > 0) --angles;
    if (c == '{') ++depth;
  }
  return declarations;
}

// Constructors, destructors, operators, friends and the methods of a base do not count as its own.
bool is_own_method(const std::string& declaration, const std::string& type) {
  static const std::regex kName(R"((~?\w+)\s*\()");
  static const std::regex kNoMethod(R"(\b(operator|friend|using|override)\b)");
  std::smatch name;
  if (std::regex_search(declaration, kNoMethod) || !std::regex_search(declaration, name, kName))
    return false;
  const bool is_initialised = name.prefix().str().find('=') != std::string::npos;
  return !is_initialised && name[1] != type && name[1].str().front() != '~';
}

std::size_t methods_of(const Type& type) {
  return static_cast<std::size_t>(std::ranges::count_if(
      declarations_of(type),
      [&](const std::string& declaration) { return is_own_method(declaration, type.name); }));
}

std::size_t lines_in(std::string_view code) {
  return static_cast<std::size_t>(std::ranges::count(code, '\n')) + 1;
}

// The lines of its methods that are defined outside of it, by name of the type, in one folder.
using LinesByType = std::map<std::string, std::size_t>;

void count_definitions(const SourceFile& file, LinesByType& lines) {
  static const std::regex kMethod(R"(\b(\w+)::~?\w+\()");
  const std::string_view code(file.code);
  for (std::size_t begin = 0; begin < code.size();) {
    const std::size_t line_end = std::min(code.find('\n', begin), code.size());
    const std::string line(code.substr(begin, line_end - begin));
    const bool may_begin =
        !line.empty() && std::string_view(" #/}").find(line.front()) == std::string_view::npos;
    std::smatch match;
    std::size_t close = line_end;
    if (may_begin && !line.ends_with(';') && std::regex_search(line, match, kMethod)) {
      if (!line.ends_with('}')) close = std::min(code.find("\n}", begin), code.size() - 1) + 1;
      lines[match[1]] += lines_in(code.substr(begin, close - begin));
    }
    begin = close + 1;
  }
}

struct KnownType {
  std::string_view path, type;
};
// Facades with one short method for each request, type of value or source: a split would only
// spread the names. Do not add a type here; remove one that is small now.
constexpr std::array<KnownType, 3> kKnownToBeLarge{{
    {"core/kube/api.h", "Api"},
    {"core/runtime/yaml.h", "YamlMap"},
    {"exporter/store/store.h", "Store"},
}};

bool is_in(std::span<const KnownType> list, std::string_view path, std::string_view type) {
  return std::ranges::any_of(
      list, [&](const KnownType& known) { return known.path == path && known.type == type; });
}

std::string size_text(std::size_t methods, std::size_t lines) {
  return std::to_string(methods) + " methods and " + std::to_string(lines) + " lines";
}

// Whether the file is part of the program; core is part of both programs.
bool is_of_program(const SourceFile& file, std::string_view program) {
  return file.is_in("core") || file.is_in(program);
}

void add_types_ending(const SourceFile& file, std::string_view ending, Violations& named) {
  static const std::regex kType(R"(\b(?:class|struct|using)\s+(?:\w+::)*(\w+)\s*[:{=f])");
  std::size_t number = 0;
  std::istringstream stream(file.code);
  for (std::string line; std::getline(stream, line);) {
    ++number;
    std::smatch match;
    if (line.find(ending) == std::string::npos || !std::regex_search(line, match, kType)) continue;
    if (match[1].str().ends_with(ending))
      named.push_back(
          {file.path, number,
           match[1].str() + " is not the only one that ends in " + std::string(ending)});
  }
}

}  // namespace

Violations classes_are_small(const SourceTree& tree) {
  std::map<std::string, LinesByType, std::less<>> by_folder;
  for (const SourceFile& file : tree.files) {
    if (file.is_product() && file.is_cpp())
      count_definitions(file, by_folder[std::string(file.folder())]);
  }
  Violations found;
  for (const SourceFile& file : tree.files) {
    if (!file.is_product() || !file.is_cpp()) continue;
    for (const Type& type : types_in(file)) {
      const std::size_t methods = methods_of(type);
      const std::size_t lines =
          lines_in(type.body) + by_folder[std::string(file.folder())][type.name];
      const bool is_small = methods <= kMostMethods && lines <= kMostLines;
      if (is_small == !is_in(kKnownToBeLarge, file.path, type.name)) continue;
      found.push_back({file.path, type.line,
                       type.name + (is_small ? " is no longer large" : " is large: ") +
                           (is_small ? "" : size_text(methods, lines))});
    }
  }
  return found;
}

Violations endings_name_one_type(const SourceTree& tree) {
  Violations found;
  for (const std::string_view program : {"exporter", "remediator"}) {
    for (const std::string_view ending : {"Verdict", "Order", "Report"}) {
      Violations named;
      for (const SourceFile& file : tree.files) {
        if (file.is_cpp() && is_of_program(file, program)) add_types_ending(file, ending, named);
      }
      if (named.size() > 1) std::ranges::move(named, std::back_inserter(found));
    }
  }
  return found;
}

}  // namespace gpuward::architecture

#include "core/runtime/yaml.h"

#include <yaml-cpp/eventhandler.h>
#include <yaml-cpp/exceptions.h>
#include <yaml-cpp/mark.h>
#include <yaml-cpp/parser.h>

#include <algorithm>
#include <map>
#include <set>
#include <sstream>

#include "core/runtime/files.h"
#include "core/runtime/text.h"
#include "core/runtime/yaml_tree.h"

namespace gpuward {
namespace {

constexpr std::size_t kMaxBytes = 1U << 20U;
constexpr std::size_t kMaxDepth = 32;
constexpr std::size_t kMaxFaultsShown = 20;

// Thrown out of yaml-cpp's parser; caught in read_tree().
struct Refusal {
  YAML::Mark mark;
  std::string message;
};

// Builds the tree from the parser's events, before yaml-cpp itself recurses.
class TreeBuilder final : public YAML::EventHandler {
 public:
  explicit TreeBuilder(YamlDocument& document) : document_(document) {}

  void OnDocumentStart(const YAML::Mark& /*mark*/) override {}
  void OnDocumentEnd() override {}
  void OnAlias(const YAML::Mark& mark, YAML::anchor_t /*anchor*/) override {
    refuse_reference(mark);
  }
  void OnAnchor(const YAML::Mark& mark, const std::string& /*name*/) override {
    refuse_reference(mark);
  }

  void OnNull(const YAML::Mark& mark, YAML::anchor_t /*anchor*/) override {
    if (expects_key()) throw Refusal{mark, "a key must not be null"};
    attach(mark, YamlKind::kNull);
  }

  void OnScalar(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t /*anchor*/,
                const std::string& value) override {
    refuse_tag(mark, tag);
    if (expects_key()) return take_key(mark, value);
    YamlNode& node = attach(mark, YamlKind::kScalar);
    node.text = value;
    node.plain = tag == "?";
  }

  void OnSequenceStart(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t /*anchor*/,
                       YAML::EmitterStyle::value /*style*/) override {
    open(mark, tag, YamlKind::kList);
  }
  void OnSequenceEnd() override { open_.pop_back(); }
  void OnMapStart(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t /*anchor*/,
                  YAML::EmitterStyle::value /*style*/) override {
    open(mark, tag, YamlKind::kMap);
  }
  void OnMapEnd() override { open_.pop_back(); }

 private:
  struct Frame {
    YamlNode* node;
    bool has_key = false;          // of a map: the entry at the back waits for its value
    std::set<std::string> keys{};  // seen so far
  };

  static void refuse_reference(const YAML::Mark& mark) {
    throw Refusal{mark, "anchors and aliases are not supported: write the value out"};
  }
  // yaml-cpp's tag for a plain scalar or an untagged container is "?", for a quoted scalar "!".
  static void refuse_tag(const YAML::Mark& mark, const std::string& tag) {
    if (tag != "?" && tag != "!" && !tag.empty()) throw Refusal{mark, "tags are not supported"};
  }

  [[nodiscard]] bool expects_key() const {
    return !open_.empty() && open_.back().node->kind == YamlKind::kMap && !open_.back().has_key;
  }

  void take_key(const YAML::Mark& mark, const std::string& key) {
    Frame& frame = open_.back();
    if (!frame.keys.insert(key).second) {
      throw Refusal{mark, "duplicate key " + join_yaml_path(frame.node->path, key)};
    }
    frame.node->entries.push_back({key, mark.line + 1, nullptr, false});
    frame.has_key = true;
  }

  YamlNode& attach(const YAML::Mark& mark, YamlKind kind) {
    auto node = std::make_shared<YamlNode>();
    node->kind = kind;
    node->line = mark.line + 1;
    node->document = &document_;
    YamlNode& attached = *node;
    if (open_.empty()) {
      document_.root = std::move(node);
    } else if (Frame& frame = open_.back(); frame.node->kind == YamlKind::kList) {
      attached.path = frame.node->path + "[" + std::to_string(frame.node->items.size()) + "]";
      frame.node->items.push_back(std::move(node));
    } else {
      YamlEntry& entry = frame.node->entries.back();
      attached.path = join_yaml_path(frame.node->path, entry.key);
      entry.value = std::move(node);
      frame.has_key = false;
    }
    return attached;
  }

  void open(const YAML::Mark& mark, const std::string& tag, YamlKind kind) {
    refuse_tag(mark, tag);
    if (expects_key()) throw Refusal{mark, "a key must be a word"};
    if (open_.size() >= kMaxDepth)
      throw Refusal{mark, "nested deeper than " + std::to_string(kMaxDepth)};
    open_.push_back({&attach(mark, kind)});
  }

  YamlDocument& document_;
  std::vector<Frame> open_;
};

std::string at(const std::string& name, const YAML::Mark& mark) {
  return name + ":" + std::to_string(mark.line + 1) + ":" + std::to_string(mark.column + 1) + ": ";
}

// Rejects bytes that yaml-cpp would misread: it ends the text at 0x04 and guesses UTF-16.
Status check_characters(std::string_view text, const std::string& name) {
  if (!is_valid_utf8(text)) return fail(ErrorKind::kInvalid, name + ": not UTF-8 text");
  const auto control = std::ranges::find_if(text, [](char c) {
    return (c >= 0 && c < 0x20 && c != '\t' && c != '\n' && c != '\r') || c == 0x7f;
  });
  if (control == text.end()) return {};
  const auto line = std::count(text.begin(), control, '\n') + 1;
  return fail(ErrorKind::kInvalid,
              name + ":" + std::to_string(line) + ": contains a control character");
}

Status read_tree(std::string_view text, YamlDocument& document) {
  try {
    std::istringstream stream{std::string(text)};
    YAML::Parser parser(stream);
    TreeBuilder builder(document);
    if (parser.HandleNextDocument(builder)) {
      YamlDocument second;
      TreeBuilder rest(second);
      if (parser.HandleNextDocument(rest)) {
        return fail(ErrorKind::kInvalid, document.name + ": contains more than one document");
      }
    }
    return {};
  } catch (const Refusal& refusal) {
    return fail(ErrorKind::kInvalid, at(document.name, refusal.mark) + refusal.message);
  } catch (const YAML::Exception& error) {
    return fail(ErrorKind::kInvalid, at(document.name, error.mark) + error.msg);
  } catch (const std::exception& error) {
    return fail(ErrorKind::kInvalid, document.name + ": not YAML: " + error.what());
  }
}

}  // namespace

YamlFile::YamlFile(std::unique_ptr<YamlDocument> document) : document_(std::move(document)) {}
YamlFile::YamlFile(YamlFile&&) noexcept = default;
YamlFile& YamlFile::operator=(YamlFile&&) noexcept = default;
YamlFile::~YamlFile() = default;

Result<YamlFile> YamlFile::load(const std::filesystem::path& path) {
  auto text = read_file(path, kMaxBytes);
  if (!text) return std::unexpected(std::move(text.error()));
  return parse(*text, path.string());
}

Result<YamlFile> YamlFile::parse(std::string_view text, std::string name) {
  if (text.size() > kMaxBytes) return fail(ErrorKind::kTooLarge, name + ": larger than 1 MiB");
  if (auto status = check_characters(text, name); !status) return std::unexpected(status.error());
  auto document = std::make_unique<YamlDocument>();
  document->name = std::move(name);
  if (auto status = read_tree(text, *document); !status) return std::unexpected(status.error());
  if (document->root == nullptr || document->root->kind == YamlKind::kNull) {
    document->root = std::make_shared<YamlNode>();
    document->root->kind = YamlKind::kMap;
    document->root->line = 1;
    document->root->document = document.get();
  }
  if (document->root->kind != YamlKind::kMap) {
    return fail(ErrorKind::kInvalid, document->name + ":" + std::to_string(document->root->line) +
                                         ": the file must be a mapping (key: value)");
  }
  return YamlFile(std::move(document));
}

YamlFile YamlFile::describing() {
  auto document = std::make_unique<YamlDocument>();
  document->is_described = true;
  document->root = std::make_shared<YamlNode>();
  document->root->document = document.get();
  return YamlFile(std::move(document));
}

const std::vector<std::string>& YamlFile::old_names() const { return document_->old_names; }

const std::vector<YamlKey>& YamlFile::keys() const { return document_->keys; }

YamlMap YamlFile::root() const { return YamlMap(document_->root); }

Status YamlFile::finish() const {
  YamlDocument unread{document_->name, nullptr, {}};
  report_unread(*document_->root, unread);
  std::multimap<int, std::string> by_line;
  for (const auto& fault : document_->faults) by_line.emplace(fault.line, fault.text);
  for (const auto& fault : unread.faults) by_line.emplace(fault.line, fault.text);
  if (by_line.empty()) return {};
  std::string message;
  std::size_t shown = 0;
  for (const auto& [line, text] : by_line) {
    if (shown++ == kMaxFaultsShown) {
      message += "\nand " + std::to_string(by_line.size() - kMaxFaultsShown) + " more";
      break;
    }
    message += (message.empty() ? "" : "\n") + text;
  }
  return fail(ErrorKind::kInvalid, message);
}

}  // namespace gpuward

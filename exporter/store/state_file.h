// The State as a JSON file in the state folder (--state.path), written as a whole and atomically.
// Read once at the start; written by StateSaver.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>

#include "core/model/result.h"
#include "exporter/store/state.h"

namespace gpuward::exporter {

[[nodiscard]] std::string to_state_json(const State& state);
// kInvalid unless the text is a complete state of a known schema version.
[[nodiscard]] Result<State> parse_state_json(std::string_view text);

class StateFile {
 public:
  explicit StateFile(const std::filesystem::path& folder);

  struct Loaded {
    State state;               // of the last run; empty if there is none
    std::string fault;         // why the file could not be read; empty: it was, or there is none
    bool is_previous = false;  // if there is a fault: `state` is the copy `state.json.previous`
  };
  // Renames a file that is broken or cannot be read to `state.json.broken`, so that the next save
  // does not overwrite it, and loads the copy from the save before. Creates the folder if it is
  // missing, so that `inject` and `clear` find it as soon as the exporter serves.
  [[nodiscard]] Loaded load() const;
  // For programs that do not own the file: changes nothing, and a missing file is kNotFound.
  [[nodiscard]] Result<State> read() const;
  // Saves `text` of to_state_json(). The replaced file becomes the previous copy. Creates the
  // folder if it is missing.
  [[nodiscard]] Status save(std::string_view text) const;
  [[nodiscard]] const std::filesystem::path& path() const { return path_; }

 private:
  [[nodiscard]] static Result<State> read(const std::filesystem::path& path);
  // Best effort: a file system without links has no copy.
  void keep_previous() const;

  std::filesystem::path path_, previous_;
};

}  // namespace gpuward::exporter

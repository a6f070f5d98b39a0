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
// kInvalid for anything that is not wholly a state of this schema version.
[[nodiscard]] Result<State> parse_state_json(std::string_view text);

class StateFile {
 public:
  explicit StateFile(const std::filesystem::path& folder);

  struct Loaded {
    State state;               // of the run before; empty if there is none
    std::string fault;         // why the file could not be read; empty: it was, or there is none
    bool is_previous = false;  // with a fault: `state` is of the copy, `state.json.previous`
  };
  // A file that is broken or cannot be read is set aside as `state.json.broken`, so that the next
  // save does not write over it, and the copy of the save before it is used. Makes the folder if it
  // is missing, so that `inject` and `clear` find it as soon as the exporter serves.
  [[nodiscard]] Loaded load() const;
  // The same for those to whom the file does not belong: changes nothing, and a missing file is
  // kNotFound.
  [[nodiscard]] Result<State> read() const;
  // `text` as to_state_json() makes it. The file that it replaces becomes the previous copy. Makes
  // the folder if it is missing.
  [[nodiscard]] Status save(std::string_view text) const;
  [[nodiscard]] const std::filesystem::path& path() const { return path_; }

 private:
  [[nodiscard]] static Result<State> read(const std::filesystem::path& path);
  // Best effort: a file system without links has no copy.
  void keep_previous() const;

  std::filesystem::path path_, previous_;
};

}  // namespace gpuward::exporter

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

  // The state of the run before; an empty one where there is none. kInvalid: the file is broken or
  // cannot be read, and has been set aside as `state.json.broken`, so that the next save does not
  // write over it. Start with an empty state. Makes the folder where it is missing, so that
  // `inject` and `clear` find it as soon as the exporter serves.
  [[nodiscard]] Result<State> load() const;
  // The same for those to whom the file does not belong: changes nothing, and a missing file is
  // kNotFound.
  [[nodiscard]] Result<State> read() const;
  // `text` as to_state_json() makes it. Makes the folder where it is missing.
  [[nodiscard]] Status save(std::string_view text) const;
  [[nodiscard]] const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
};

}  // namespace gpuward::exporter

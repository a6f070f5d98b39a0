#include "remediator/cli/ctl/watch.h"

#include <optional>

namespace gpuward::remediator {

Status watch_command(const CtlLine& line, Clock& clock, const std::stop_token& stop,
                     const ShowText& show) {
  std::optional<std::string> last;
  do {
    const auto output = line.command->run(line.flags, clock);
    if (!output && !last) return std::unexpected(output.error());
    const std::string text = output ? output->text : "error: " + output.error().message + "\n";
    const std::string compared = output ? output->ageless.value_or(text) : text;
    if (compared != last && !show(text)) return {};
    last = compared;
  } while (clock.sleep_for(kBetweenLooks, stop));
  return {};
}

}  // namespace gpuward::remediator

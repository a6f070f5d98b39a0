// `gpuward-exporter parse-log`: reads kernel-log lines and writes one JSON object for each event
// that gpuward would count. For operators with a log, and for tests of the parser.
#pragma once

#include <iosfwd>

#include "core/xid/catalogue.h"
#include "exporter/kernel_log/line_rules.h"

namespace gpuward::exporter {

// Reads `in` to its end. Pasted lines may have any text before the message. Lines may contain any
// bytes; a line longer than 64 KiB is cut there. Returns the exit code of the program: 0, or 1 if
// `out` accepts no more.
int run_parse_log(std::istream& in, std::ostream& out, const xid::Catalogue& catalogue,
                  const LineRules& rules = {});

}  // namespace gpuward::exporter

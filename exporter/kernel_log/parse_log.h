// `gpuward-exporter parse-log`: kernel-log lines in, one JSON object out for each event that
// gpuward would count. For people who have a log, and for tests of what a line is taken for.
#pragma once

#include <iosfwd>

#include "core/xid/catalogue.h"
#include "exporter/kernel_log/line_rules.h"

namespace gpuward::exporter {

// Reads `in` to its end. Lines may be pasted by a person, with anything in front of the message.
// Lines may hold any bytes; of one longer than 64 KiB the beginning is read. Returns the exit code
// of the program: 0, or 1 where `out` takes no more.
int run_parse_log(std::istream& in, std::ostream& out, const xid::Catalogue& catalogue,
                  const LineRules& rules = {});

}  // namespace gpuward::exporter

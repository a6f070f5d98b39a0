#include "exporter/kernel_log/source.h"

#include "core/xid/parser.h"

namespace gpuward::exporter {

std::string_view LogRecord::message() const {
  switch (writer) {
    case Writer::kKernel:
    case Writer::kPieces:
      return text;
    case Writer::kUserSpace:
      return xid::without_seconds(text);
    case Writer::kUnknown:
      return xid::strip_prefixes(text);
  }
  return text;
}

}  // namespace gpuward::exporter

#include "core/xid/generator/table.h"

#include <charconv>
#include <map>

namespace gpuward::xid_generator {
namespace {

using enum ColumnType;

constexpr Column kXid[] = {
    {"code", "code", kNumber},
    {"mnemonic", "mnemonic", kWord},
    {"description", "description", kText},
    {"action", "action", kWord},
    {"severity", "default_severity", kSeverity},
    {"seed_severity", "seed_severity", kSeverity},
    {"cleared_by", "cleared_by", kClearedBy},
    {"application_error", "application_error", kYesNo},
    {"clears", "clears", kYesNo},
    {"why", "why", kText},
    {"cleared_why", "cleared_why", kText},
};
constexpr Column kSxid[] = {
    {"code", "code", kNumber},
    {"mnemonic", "mnemonic", kWord},
    {"description", "description", kText},
    {"action", "action", kWord},
    {"severity", "default_severity", kSeverity},
    {"seed_severity", "seed_severity", kSeverity},
    {"cleared_by", "cleared_by", kClearedBy},
    {"fatality", "fatality", kFatality},
    {"word_decides", "word_decides", kYesNo},
    {"clears", "clears", kYesNo},
    {"why", "why", kText},
    {"cleared_why", "cleared_why", kText},
};
constexpr Column kNvlink5[] = {
    {"code", "code", kNumber},
    {"unit", "unit", kText},
    {"form", "promoted", kForm},
    {"intrinfo_before_575", "before_575", kBits},
    {"intrinfo_from_575", "from_575", kBits},
    {"match", "match", kMatch},
    {"status", "status", kHex},
    {"action", "action", kWord},
    {"severity", "severity", kSeverity},
};
constexpr Column kXid74[] = {
    {"register", "register_number", kNumber},
    {"bit", "bit", kNumber},
    {"severity", "severity", kSeverityOrDefault},
    {"action", "action", kWord},
    {"why", "why", kText},
};
constexpr Column kRecovery[] = {
    {"value", "value", kNumber},
    {"text", "text", kText},
    {"action", "action", kWord},
    {"severity", "severity", kSeverity},
    {"seed_severity", "seed_severity", kSeverity},
    {"cleared_by", "cleared_by", kClearedBy},
    {"clears", "clears", kYesNo},
    {"why", "why", kText},
    {"cleared_why", "cleared_why", kText},
};
constexpr Column kMoved[] = {
    {"printed", "printed", kNumber}, {"text", "text", kText}, {"means", "means", kNumber}};
constexpr Column kOther[] = {
    {"kind", "kind", kKind},
    {"label", "label", kText},
    {"action", "action", kWord},
    {"severity", "severity", kSeverity},
    {"cleared_by", "cleared_by", kClearedBy},
    {"clears", "clears", kYesNo},
    {"why", "why", kText},
    {"cleared_why", "cleared_why", kText},
};

constexpr Table kTables[] = {
    {"xid.csv", "Row", "xid_rows", kXid, 1, true},
    {"sxid.csv", "Row", "sxid_rows", kSxid, 1, true},
    {"nvlink5.csv", "Nvlink5Rule", "nvlink5_rules", kNvlink5, 7, false},
    {"xid74.csv", "Xid74Bit", "xid74_bits", kXid74, 2, false},
    {"recovery.csv", "RecoveryAction", "recovery_actions", kRecovery, 1, true},
    {"sxid_moved.csv", "MovedSxid", "moved_sxids", kMoved, 2, false},
    {"other.csv", "OtherRule", "other_rules", kOther, 2, false},
};

void check_header(const Table& table, const Csv& csv, Errors& errors) {
  std::vector<std::string> expected;
  std::string listed;
  for (const auto& column : table.columns) {
    expected.emplace_back(column.name);
    listed += (listed.empty() ? "" : ",") + expected.back();
  }
  if (csv.rows.empty() || csv.rows.front().fields != expected) {
    errors.push_back(at(csv, 1, "the first line has to be " + listed));
  }
}

std::string key_of(const Table& table, const CsvRow& row) {
  std::string key;
  for (std::size_t i = 0; i < table.keys; ++i) key += (i == 0 ? "" : ",") + row.fields[i];
  return key;
}

// Refuses a row that is there twice, and one out of order.
class RowOrder {
 public:
  void check(const Table& table, const Csv& csv, const CsvRow& row, Errors& errors) {
    const auto key = key_of(table, row);
    const auto [seen, fresh] = lines_.try_emplace(key, row.line);
    if (!fresh) {
      errors.push_back(
          at(csv, row.line, key + " is already in line " + std::to_string(seen->second)));
    }
    if (!table.ascending) return;
    std::uint64_t code = 0;
    const auto& text = row.fields.front();
    std::from_chars(text.data(), text.data() + text.size(), code);
    if (fresh && lines_.size() > 1 && code < last_) {
      errors.push_back(at(csv, row.line,
                          key + " is out of order: sort by " + std::string{table.columns[0].name}));
    }
    last_ = code;
  }

 private:
  std::map<std::string, std::size_t> lines_;
  std::uint64_t last_ = 0;
};

std::string row_to_cpp(const Table& table, const Csv& csv, const CsvRow& row, Errors& errors) {
  std::string cpp = "    {";
  for (std::size_t i = 0; i < table.columns.size(); ++i) {
    const auto& column = table.columns[i];
    const auto value = to_cpp(column.type, row.fields[i]);
    if (!value) {
      errors.push_back(
          at(csv, row.line, "column " + std::string{column.name} + ": " + value.error()));
      continue;
    }
    cpp += (i == 0 ? "." : ", .") + std::string{column.field} + " = " + *value;
  }
  return cpp + "},\n";
}

}  // namespace

std::span<const Table> all_tables() { return kTables; }

std::string generate(const Table& table, const Csv& csv, Errors& errors) {
  check_header(table, csv, errors);
  const std::string type{table.type};
  const std::string function{table.function};
  std::string cpp = "std::span<const " + type + "> " + function + "() {\n  static constexpr " +
                    type + " kRows[] = {\n";
  RowOrder order;
  for (std::size_t i = 1; i < csv.rows.size(); ++i) {
    const auto& row = csv.rows[i];
    if (row.fields.size() != table.columns.size()) {
      errors.push_back(at(csv, row.line,
                          std::to_string(row.fields.size()) + " fields where " +
                              std::to_string(table.columns.size()) + " belong"));
      continue;
    }
    order.check(table, csv, row, errors);
    cpp += row_to_cpp(table, csv, row, errors);
  }
  if (csv.rows.size() < 2) errors.push_back(at(csv, 1, "no rows"));
  return cpp + "  };\n  return kRows;\n}\n";
}

}  // namespace gpuward::xid_generator

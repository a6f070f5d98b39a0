// The ledger as the text in its ConfigMap: a line an entry, its words in a fixed order, so that a
// person can read it and the API server has little to transfer (every slot that is taken rewrites
// the whole text). Strict both ways: a text that cannot be read to the last entry is an error and
// not a ledger, because its reader must then stop. Pure.
//
//   gpuward-ledger 2
//   breaker closed SINCE BY WHY
//   place NUMBER POOL ZONE [KEY=VALUE...]
//   slot REMEDIATION NODE-UID IMPACT PLACE SINCE
//   start REMEDIATION IMPACT PLACE AT
//   arrival REMEDIATION NODE-UID AT seen|new
//   attempt REMEDIATION INSTANCE TREATMENT AT [SERIAL...]
//   end LINES-BEFORE
//
// The slots of taints are a separate text, in another key of the same ConfigMap: an older version
// that does not know them still reads the ledger, and keeps the other key when it writes.
//
//   gpuward-taints 1
//   place NUMBER POOL ZONE [KEY=VALUE...]
//   taint REMEDIATION NODE-UID PLACE SINCE
//   end LINES-BEFORE
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "core/model/result.h"
#include "remediator/decide/budgets/ledger.h"

namespace gpuward::remediator {

// Below the 1 MiB that a ConfigMap can hold.
inline constexpr std::size_t kMaxLedgerBytes = 1'000'000;

// Returns the text of the ledger without its taints, or kTooLarge above kMaxLedgerBytes.
[[nodiscard]] Result<std::string> encode_ledger(const Ledger& ledger);
[[nodiscard]] std::string encode_taints(const Ledger& ledger);

// Reads a ledger. Returns kInvalid if the text is not a ledger, has another version, has an
// incomplete entry (the message names the line), or differs in any byte from the output of
// encode_ledger.
[[nodiscard]] Result<Ledger> decode_ledger(std::string_view text);
// Reads the text of encode_taints, with the same errors. If an older version has raised a slot in
// the ledger, the same slot may be in both texts; the caller then skips the taint.
[[nodiscard]] Result<std::vector<Slot>> decode_taints(std::string_view text);

}  // namespace gpuward::remediator

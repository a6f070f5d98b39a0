// The ledger as the text that its ConfigMap holds: a line an entry, its words in a fixed order, so
// that a person can read it and the API server has little to carry (it goes over the wire whole
// with every slot that is taken). Strict both ways: what cannot be read to the last entry is an
// error and no ledger, because whoever needs the ledger must then stop. Pure.
//
//   gpuward-ledger 2
//   breaker closed SINCE BY WHY
//   place NUMBER POOL ZONE [KEY=VALUE...]
//   slot REMEDIATION NODE-UID HARM PLACE SINCE
//   start REMEDIATION HARM PLACE AT
//   arrival REMEDIATION NODE-UID AT seen|new
//   attempt REMEDIATION INSTANCE TREATMENT AT [SERIAL...]
//   end LINES-BEFORE
//
// The slots of taints are a text of their own, in another key of the same ConfigMap: a version that
// knows nothing of them reads the ledger all the same, and carries the other key along.
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
#include "remediator/budgets/ledger.h"

namespace gpuward::remediator {

// A ConfigMap takes 1 MiB.
inline constexpr std::size_t kMaxLedgerBytes = 1'000'000;

// Without its taints. kTooLarge over kMaxLedgerBytes.
[[nodiscard]] Result<std::string> encode_ledger(const Ledger& ledger);
[[nodiscard]] std::string encode_taints(const Ledger& ledger);

// kInvalid for what is no ledger, of another version, has an entry that is not whole (says the
// line), or is not to the byte what encode_ledger makes of it.
[[nodiscard]] Result<Ledger> decode_ledger(std::string_view text);
// The same of the text of encode_taints. What a version that knows nothing of taints has raised in
// the ledger stands in both: with_slot, once for each, sorts that out.
[[nodiscard]] Result<std::vector<Slot>> decode_taints(std::string_view text);

}  // namespace gpuward::remediator

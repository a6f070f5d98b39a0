// The ledger as the text that its ConfigMap holds. Strict both ways: what cannot be read to the
// last entry is an error and no ledger, because whoever needs the ledger must then stop. Pure.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "core/model/result.h"
#include "remediator/safety/ledger.h"

namespace gpuward::remediator {

// A ConfigMap takes 1 MiB.
inline constexpr std::size_t kMaxLedgerBytes = 1'000'000;

// kTooLarge over kMaxLedgerBytes.
[[nodiscard]] Result<std::string> encode_ledger(const Ledger& ledger);

// kInvalid for what is no ledger, of another version, or has an entry that is not whole.
[[nodiscard]] Result<Ledger> decode_ledger(std::string_view text);

}  // namespace gpuward::remediator

// The budgets' ledger, with any text in its ConfigMap: the reader refuses it, or writes the same
// text from what it has read.
#include <string>

#include "remediator/decide/budgets/ledger_text.h"
#include "tests/fuzz/target.h"

namespace gpuward::fuzz {

void check_input(std::string_view input) {
  const auto ledger = remediator::decode_ledger(input);
  if (!ledger) {
    hold(ledger.error().message.size() < 500, "a refusal is short, whatever is refused");
    return;
  }
  hold(remediator::encode_ledger(*ledger) == std::string(input), "nothing is passed over");
}

}  // namespace gpuward::fuzz

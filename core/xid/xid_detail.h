// What an Xid says after its number, process and name: the link and registers of 74 and 144-150,
// the advice of 154, the cause of 45. Private to core/xid.
#pragma once

#include <string_view>

#include "core/xid/event.h"

namespace gpuward::xid {

// Fills the fields of `event` that its code has; leaves alone what the text does not say.
void read_xid_detail(std::string_view text, Event& event);

}  // namespace gpuward::xid

// AMD's error records (CPER), of which the driver keeps the newest thousands: what a record's
// header says, and which one is the latest. Pure; nothing of a record is believed before it is
// checked. Used by AmdSmi.
#pragma once

#include <optional>
#include <string_view>

#include "exporter/gpu/report/reading.h"

namespace gpuward::exporter::amd {

// `bytes` begins with the record and may hold more. nullopt where that is no record, its length is
// less than a header's or more than there is, or its severity is none that is known.
[[nodiscard]] std::optional<CperRecord> parse_cper(std::string_view bytes);

// Of two the one with the later time: a record with a time before one without, of two without the
// one that comes later. At the same second a fatal one wins: which came first nobody can tell.
void keep_later(Maybe<CperRecord>& latest, CperRecord record);

// The same with the record that is at `place`; where that is not within `filled`, there is none.
void take_record(Maybe<CperRecord>& latest, std::string_view filled, const void* place);

}  // namespace gpuward::exporter::amd

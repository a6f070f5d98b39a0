// Shared by the readers of all clouds: one bounded request, and times in the clouds' formats. Used
// only by the files of the clouds.
#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <string_view>

#include "core/http/client/client.h"
#include "core/model/result.h"

namespace gpuward::exporter {

struct MetadataAnswer {
  int status = 0;
  std::string body;  // at most 64 KiB, without blanks around it
};

// Sends a GET of a second at most, with one header. Any HTTP status is a value.
[[nodiscard]] Result<MetadataAnswer> get_metadata(http::Client& http, const std::string& url,
                                                  std::string header, std::string value);
[[nodiscard]] std::unexpected<Error> refused(std::string_view service, int status);

// "21 Jan 2019 09:00:43 GMT" and "Mon, 19 Sep 2016 18:29:47 GMT"; nullopt for anything else.
[[nodiscard]] std::optional<std::chrono::system_clock::time_point> parse_gmt(
    const std::string& text);

}  // namespace gpuward::exporter

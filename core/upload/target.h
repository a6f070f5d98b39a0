// Where a file may be taken to: a bucket of S3, a URL, a folder that is mounted. Pure. Used by the
// exporter's evidence, and by the reader of the policy, which refuses what could never work.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <variant>

#include "core/aws/s3.h"
#include "core/model/result.h"

namespace gpuward {

struct HttpPlace {
  std::string url;  // ends with a slash, or is the file's own
};
struct FolderPlace {
  std::filesystem::path path;  // absolute
};
using UploadTarget = std::variant<aws::S3Place, HttpPlace, FolderPlace>;

// `s3://bucket/prefix`, `https://host/path/`, `http://...` or `/folder`. kInvalid says why it can
// never work, or why it may not: a URL with a user, a query or a fragment, where secrets stand. No
// message repeats it.
[[nodiscard]] Result<UploadTarget> parse_upload_target(std::string_view text);

// Where the file `name` lies below it.
[[nodiscard]] UploadTarget below(UploadTarget target, std::string_view name);
// As people write it; holds no secret.
[[nodiscard]] std::string to_text(const UploadTarget& target);

}  // namespace gpuward

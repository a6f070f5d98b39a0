// The destination of an upload: an S3 bucket, a URL or a mounted folder. Pure. Used by the
// exporter's evidence and by the reader of the policy, which rejects a destination that can never
// work.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <variant>

#include "core/aws/s3.h"
#include "core/model/result.h"

namespace gpuward {

struct HttpPlace {
  std::string url;  // ends with a slash, or is the URL of the file itself
};
struct FolderPlace {
  std::filesystem::path path;  // absolute
};
using UploadTarget = std::variant<aws::S3Place, HttpPlace, FolderPlace>;

// Reads `s3://bucket/prefix`, `https://host/path/`, `http://...` or `/folder`. kInvalid says why it
// can never work or is not allowed: a URL with a user, a query or a fragment, which may hold
// secrets. No message repeats the text.
[[nodiscard]] Result<UploadTarget> parse_upload_target(std::string_view text);

// Returns the place of the file `name` below `target`.
[[nodiscard]] UploadTarget below(UploadTarget target, std::string_view name);
// The text that an operator writes; holds no secret.
[[nodiscard]] std::string to_text(const UploadTarget& target);

}  // namespace gpuward

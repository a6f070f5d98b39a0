// The dashboards of dashboards/ as their tests read them.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "core/runtime/json.h"

namespace gpuward::dashboards {

inline constexpr const char* kDatasource = "${datasource}";

struct Dashboard {
  std::string file, uid;
  Json json;
};

struct Query {
  std::string dashboard, panel, expr;
};

[[nodiscard]] std::filesystem::path folder();
// By file name. Throws if one cannot be read: a broken checkout.
[[nodiscard]] std::vector<Dashboard> load_dashboards();
[[nodiscard]] std::vector<Query> queries_of(const Dashboard& dashboard);
// The queries of the annotations; `panel` is the annotation's name.
[[nodiscard]] std::vector<Query> annotations_of(const Dashboard& dashboard);
// The expression as Grafana would send it for these clusters, with All for every other variable,
// over ten minutes.
[[nodiscard]] std::string with_variables(std::string expr, const std::string& clusters = ".*");

}  // namespace gpuward::dashboards

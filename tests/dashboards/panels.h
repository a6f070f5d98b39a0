// The dashboards of dashboards/ as their tests see them.
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
// By file name. Throws where one cannot be read: a broken checkout.
[[nodiscard]] std::vector<Dashboard> load_dashboards();
[[nodiscard]] std::vector<Query> queries_of(const Dashboard& dashboard);
// Those of the annotations; `panel` is the annotation's name.
[[nodiscard]] std::vector<Query> annotations_of(const Dashboard& dashboard);
// As Grafana would ask it with these clusters, and every other variable at All, over ten minutes.
[[nodiscard]] std::string with_variables(std::string expr, const std::string& clusters = ".*");

}  // namespace gpuward::dashboards

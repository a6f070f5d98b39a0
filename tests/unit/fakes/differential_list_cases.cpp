#include "tests/unit/fakes/differential_steps.h"

namespace gpuward::fakes {

std::vector<Case> list_cases() {
  const auto map = [](const std::string& name, const std::string& labels) {
    return R"({"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":")" + name +
           R"(","labels":{)" + labels + "}}}";
  };
  const auto select = [](const std::string& query) { return get(kMaps + "?" + query); };
  return {
      {"lists are selected by labels and fields",
       {post(kMaps, map("s1", R"("t":"1","x":"a")")), post(kMaps, map("s2", R"("t":"1","x":"b")")),
        post(kMaps, map("s3", R"("t":"1")")), select("labelSelector=t%3D1"),
        select("labelSelector=t%3D%3D1%2Cx%21%3Da"), select("labelSelector=t%2Cx+in+%28a%2Cc%29"),
        select("labelSelector=t%2Cx+notin+%28a%2Cc%29"), select("labelSelector=t%2C%21x"),
        select("labelSelector=t%3D1&fieldSelector=metadata.name%3Ds2"),
        select("labelSelector=t%3D1&fieldSelector=metadata.name%21%3Ds2"),
        select("labelSelector=none"), select("labelSelector=t%3D1&resourceVersion=0"),
        get(kMaps + "?labelSelector=x+in+a", Compare::kCode),
        get(kMaps + "?fieldSelector=data.x%3Da", Compare::kOutcome),
        get(kMaps + "?continue=nonsense", Compare::kCode),
        get(kMaps + "?resourceVersion=nonsense", Compare::kCode), remove(kMaps + "/s1"),
        remove(kMaps + "/s2"), remove(kMaps + "/s3")}}};
}

}  // namespace gpuward::fakes

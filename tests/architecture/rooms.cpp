#include <algorithm>
#include <map>
#include <set>
#include <string>

#include "tests/architecture/rules.h"

namespace gpuward::architecture {
namespace {

// A newcomer has to learn the rooms of remediator/, which are the folders right below it. An arrow
// leads from a room to another one that it includes. The floors are the rooms in the longest chain
// of arrows.
constexpr std::size_t kMostRooms = 10, kMostFloors = 8, kMostArrows = 60;

using Arrows = std::map<std::string, std::set<std::string>>;

// Returns `remediator/act` of `remediator/act/drain/evictor.h`; empty outside of the rooms.
std::string room_of(std::string_view path) {
  constexpr std::string_view kProgram = "remediator/";
  if (!path.starts_with(kProgram)) return {};
  const auto end = path.find('/', kProgram.size());
  return end == std::string_view::npos ? std::string() : std::string(path.substr(0, end));
}

Arrows arrows_of(const SourceTree& tree) {
  Arrows arrows;
  for (const SourceFile& file : tree.files) {
    const std::string room = room_of(file.path);
    if (room.empty() || !file.is_cpp()) continue;
    std::set<std::string>& targets = arrows[room];
    for (const Include& include : file.includes) {
      const std::string target = room_of(include.target);
      if (include.quoted && !target.empty() && target != room) targets.insert(target);
    }
  }
  return arrows;
}

// Returns the length of the longest chain from `room` that meets no room of `above` again.
std::size_t floors_from(const Arrows& arrows, const std::string& room,
                        std::set<std::string>& above) {
  const auto targets = arrows.find(room);
  if (targets == arrows.end() || !above.insert(room).second) return 0;
  std::size_t below = 0;
  for (const std::string& target : targets->second) {
    below = std::max(below, floors_from(arrows, target, above));
  }
  above.erase(room);
  return below + 1;
}

}  // namespace

Violations rooms_are_few(const SourceTree& tree) {
  const Arrows rooms = arrows_of(tree);
  std::size_t arrows = 0, floors = 0;
  for (const auto& [room, targets] : rooms) {
    std::set<std::string> above;
    arrows += targets.size();
    floors = std::max(floors, floors_from(rooms, room, above));
  }
  Violations found;
  const auto require_at_most = [&](std::size_t most, std::size_t counted, const std::string& what) {
    if (counted <= most) return;
    found.push_back({"remediator", 0,
                     std::to_string(counted) + " " + what + ", at most " + std::to_string(most)});
  };
  require_at_most(kMostRooms, rooms.size(), "rooms");
  require_at_most(kMostFloors, floors, "floors");
  require_at_most(kMostArrows, arrows, "arrows");
  return found;
}

}  // namespace gpuward::architecture

#include "tests/architecture/rules.h"

namespace gpuward::architecture {
namespace {

constexpr Rule kRules[] = {
    {"imports point one way", imports_point_one_way},
    {"folders form no cycle", folders_form_no_cycle},
    {"rooms are few", rooms_are_few},
    {"own includes are rooted", own_includes_are_rooted},
    {"libraries have one door", libraries_have_one_door},
    {"JSON stays out of seams", json_stays_out_of_seams},
    {"time comes from the clock", time_comes_from_the_clock},
    {"decisions are pure", decisions_are_pure},
    {"threads have owners", threads_have_owners},
    {"plug-ins stand in their table", plug_ins_stand_in_their_table},
    {"roots are small", roots_are_small},
    {"names say something", names_say_something},
    {"headers say what they are for", headers_say_what_they_are_for},
    {"nothing is left to do", nothing_is_left_to_do},
    {"programs stay in build", programs_stay_in_build},
    {"texts name no machine or registry", texts_name_no_machine_or_registry},
    {"contracts have tests", contracts_have_tests},
    {"folders are in the map", folders_are_in_the_map},
    {"walks lead from file to file", walks_lead_from_file_to_file},
    {"walks are short", walks_are_short},
};

}  // namespace

std::span<const Rule> all_rules() { return kRules; }

}  // namespace gpuward::architecture

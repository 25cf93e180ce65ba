// What a program tells its user: what fills the memory, what would fit, what each change would leave. Worked out in
// program/, from a dump (prospect.h) or from a list (listed.h); here it is only said.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace whyoom {

// Where the user finds a dimension: the argument that has it, and at which place.
struct AxisPlace {
  std::string array;        // the user's path of the argument: "batch['tokens']"
  std::int64_t number = 0;  // of the dimension, from 0
  std::int64_t length = 0;  // on all devices together
  std::string name;         // "batch", "sequence", "vocabulary"; empty where nothing tells
};

// What a program takes at a point of its schedule.
struct MemoryMoment {
  double at = 0;           // where on the schedule: 0 its begin, 1 its end
  std::int64_t bytes = 0;  // arguments, outputs, constants and the temporaries that are live then
};

// A kind of what fills the memory at the peak, and which of the user's modules it belongs to; largest first.
struct MemoryPart {
  std::string kind;  // "activations"
  std::int64_t bytes = 0;
  std::vector<std::pair<std::string, std::int64_t>> modules;  // "decoder/layers/attention"
};

// Sizes of the program as its user wrote it, of all devices together. 0: not known.
struct Room {
  std::int64_t batch = 0;
  std::int64_t largest_batch = 0;
  // That fit: as many as the change is usually made with or fewer, where that does, else the fewest that do. 1: the
  // whole batch fits.
  std::int64_t micro_batches = 0;
  std::int64_t sequence = 0;
  std::int64_t largest_sequence = 0;
  std::int64_t batch_devices = 1;       // that the batch is split over
  std::optional<AxisPlace> batch_axis;  // which dimension is meant, where an argument of the user's has it
  std::optional<AxisPlace> sequence_axis;
};

// What a change would leave.
struct Prospect {
  std::string change;
  std::int64_t saves_bytes = 0;  // may be negative
  std::int64_t left_bytes = 0;
  std::int64_t spread_bytes = 0;
  std::int64_t buffers = 0;       // that the change was made on
  bool open = false;              // if it is enough depends on what is not known of the program: no figure counts
  std::string ruled_out;          // why the program proves that it cannot help: "no_gradients"; empty where it does not
  std::int64_t parts = 0;         // devices, steps or pieces that it was worked out for; 0: none
  std::optional<AxisPlace> axis;  // that is cut into them
  bool of_state = false;          // weights and optimizer state are
};

// What two changes made together would leave; of changes neither of which is enough by itself.
struct PairProspect {
  std::string change;
  std::string other;
  std::int64_t left_bytes = 0;
};

struct Prospects {
  std::int64_t need_bytes = 0;
  std::vector<MemoryPart> memory;
  std::vector<MemoryMoment> timeline;  // over the program's order, see TimelineOf
  Room room;
  // Those that were made on at least one buffer, and those that the program rules out. Of any other change it is not
  // known what it saves.
  std::vector<Prospect> changes;
  std::vector<PairProspect> pairs;
  const Prospect* Find(std::string_view change) const;
  const PairProspect* Find(std::string_view change, std::string_view other) const;  // in any order
};

}  // namespace whyoom

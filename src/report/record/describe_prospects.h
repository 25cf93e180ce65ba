// What the records of --format json and ndjson hold of a program: what fills its memory, and what would fit. See
// describe.h.
#pragma once

#include <cmath>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>

#include "facts/prospects.h"
#include "report/record/fields.h"

namespace whyoom {

void Describe(auto& v, RecordOf<AxisPlace> auto& axis) {
  v.Record("axis", "A dimension of an argument.");
  v.Need("array", axis.array, {.about = "The argument, as the program's user names it."});
  v.Need("number", axis.number, {.about = "From 0.", .least = 0});
  v.Need("length", axis.length, {.about = "On all devices together.", .least = 1});
  v.Maybe("name", axis.name, {.about = "What it is, where that can be told: batch, sequence, vocabulary."});
}

// A user's module and what is its own.
void Describe(auto& v, RecordOf<std::pair<std::string, std::int64_t>> auto& share) {
  v.Record("module_share");
  v.Need("module", share.first);
  v.Need("bytes", share.second);
}

void Describe(auto& v, RecordOf<MemoryPart> auto& part) {
  v.Record("memory_part");
  v.Need("kind", part.kind,
         {.one_of = "weights gathered_weights optimizer_state gradients activations logits attention_scores "
                    "temporaries padding inputs outputs constants fragmentation unknown"});
  v.Need("bytes", part.bytes);
  v.Maybe("by", part.modules, {.about = "By the user's modules, the largest first; not all need be there."});
}

// In four decimals: the schedule of a large program has some ten thousand places.
template <class V>
void Describe(V& v, RecordOf<MemoryMoment> auto& moment) {
  v.Record("moment");
  double at = std::round(moment.at * 10000) / 10000;
  v.Need("at", at, {.about = "0: the begin, 1: the end.", .least = 0, .most = 1});
  v.Need("bytes", moment.bytes);
  if constexpr (V::kReads) moment.at = at;
}

void Describe(auto& v, RecordOf<Room> auto& room) {
  v.Record("room",
           "What fits, where the XLA dump tells, in the sizes of the program as its user wrote it: of all devices "
           "together. 0 does not occur: what is not known or does not fit is absent.");
  v.Maybe("batch", room.batch);
  v.Maybe("largest_batch", room.largest_batch);
  v.Maybe("micro_batches", room.micro_batches,
          {.about = "A number that fits: 4 or fewer where that does, else the fewest that do; those of the remedy."});
  v.Maybe("sequence", room.sequence);
  v.Maybe("largest_sequence", room.largest_sequence);
  v.Maybe("batch_devices", room.batch_devices,
          {.about = "The devices that the batch is split over, where they are several.", .least = 2});
  v.Maybe("batch_axis", room.batch_axis, {.about = "The dimension that batch and largest_batch mean."});
  v.Maybe("sequence_axis", room.sequence_axis, {.about = "The dimension that sequence and largest_sequence mean."});
}

// Fields of the record that they are a part of.
template <class V>
void DescribeProspects(V& v, RecordOf<std::optional<Prospects>> auto& prospects) {
  v.Group("memory", prospects, [&](auto& known) {
    v.Need("memory", known.memory,
           {.about = "What fills the memory at the peak, by kind, the largest first; where the XLA dump tells. The "
                     "bytes add up to the need."});
    v.Maybe("timeline", known.timeline,
            {.about = "What the program takes over its schedule, where the XLA dump tells: at most 64 places in order, "
                      "each the fullest of its part. What fragmentation takes is in none of them; the most of them is "
                      "what was live at the peak."});
    v.Maybe("room", known.room);
  });
}

}  // namespace whyoom

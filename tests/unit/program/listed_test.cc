#include "program/listed.h"

#include <algorithm>
#include <cstdint>
#include <string_view>
#include <vector>

#include "catch.h"

namespace whyoom {
namespace TEST_FILE {

constexpr std::int64_t kGiB = std::int64_t{1} << 30;
constexpr std::int64_t kMiB = std::int64_t{1} << 20;

ListedValue Row(std::string_view shape, ListedPart part) {
  const std::optional<ArrayShape> array = ParseArrayShape(shape);
  REQUIRE(array);
  return {*array, PaddedBytes(*array).value_or(0), part};
}

ListedProgram Listed(std::vector<ListedValue> values) {
  ListedProgram listed;
  listed.values = std::move(values);
  for (const ListedValue& value : listed.values) listed.need_bytes += value.size;
  return listed;
}

const Effect* Find(const std::vector<Effect>& changes, std::string_view name) {
  const auto found =
      std::find_if(changes.begin(), changes.end(), [&](const Effect& made) { return made.change == name; });
  return found == changes.end() ? nullptr : &*found;
}

std::int64_t Saved(const std::vector<Effect>& changes, std::string_view name) {
  const Effect* made = Find(changes, name);
  REQUIRE(made != nullptr);
  return made->saves_bytes;
}

// 8 layers, 16 examples, 12 heads, 1024 positions, 768 features.
ListedProgram Transformer() {
  return Listed({Row("f32[8,16,12,1024,1024]{4,3,2,1,0:T(8,128)}", ListedPart::kStacked),
                 Row("f32[8,16,1024,3072]{3,2,1,0:T(8,128)}", ListedPart::kStacked),
                 Row("f32[8,16,1024,768]{3,2,1,0:T(8,128)}", ListedPart::kStacked),
                 Row("bf16[8,768,3072]{2,1,0:T(8,128)(2,1)}", ListedPart::kConverted)});
}

TEST_CASE("a list without rows has no estimates", "[program]") { CHECK(EstimateFromList({}).empty()); }

TEST_CASE("half the batch halves computed values and does not change weights", "[program]") {
  const std::vector<Effect> changes = EstimateFromList(Transformer());
  CHECK(Saved(changes, "half_batch") == (6144 + 1536 + 384) * kMiB / 2);
  CHECK(Saved(changes, "batch_in_steps") == (6144 + 1536 + 384) * kMiB / 4 * 3);
}

TEST_CASE("examples and positions can be merged into one dimension", "[program]") {
  const ListedValue apart = Row("f32[8,16,1024,3072]{3,2,1,0:T(8,128)}", ListedPart::kStacked);
  const ListedValue one = Row("f32[8,16384,768]{2,1,0:T(8,128)}", ListedPart::kStacked);
  const ListedValue neither = Row("f32[8,1000,768]{2,1,0:T(8,128)}", ListedPart::kStacked);
  CHECK(Saved(EstimateFromList(Listed({apart, one})), "half_batch") == (apart.size + one.size) / 2);
  CHECK(Saved(EstimateFromList(Listed({apart, neither})), "half_batch") == apart.size / 2);
  // Weights of the same length have no examples.
  const ListedValue weights = Row("bf16[8,16384,768]{2,1,0:T(8,128)(2,1)}", ListedPart::kConverted);
  CHECK(Saved(EstimateFromList(Listed({apart, one, weights})), "half_batch") == apart.size / 2);
}

TEST_CASE("the sequence is the dimension after the batch", "[program]") {
  const ListedValue places = Row("f32[8,16,1024,768]{3,2,1,0:T(8,128)}", ListedPart::kStacked);
  CHECK(Saved(EstimateFromList(Listed({places})), "half_sequence") == places.size / 2);
}

TEST_CASE("half the sequence quarters attention scores", "[program]") {
  CHECK(Saved(EstimateFromList(Transformer()), "half_sequence") == (6144 / 4 * 3 + (1536 + 384) / 2) * kMiB);
}

TEST_CASE("half of an odd batch is rounded up", "[program]") {
  const std::vector<Effect> changes =
      EstimateFromList(Listed({Row("f32[8,3,1024,768]{3,2,1,0:T(8,128)}", ListedPart::kStacked)}));
  CHECK(Saved(changes, "half_batch") == 8 * 3 * kMiB);
}

TEST_CASE("a batch of two is split into two micro-batches", "[program]") {
  const std::vector<Effect> changes =
      EstimateFromList(Listed({Row("bf16[4,2,16,8192,8192]{4,3,2,1,0:T(8,128)(2,1)}", ListedPart::kStacked)}));
  const Effect* micro = Find(changes, "batch_in_steps");
  REQUIRE(micro != nullptr);
  CHECK(micro->parts == 2);
  CHECK(micro->saves_bytes == 8 * kGiB);
}

TEST_CASE("rematerialized layers keep their inputs, and one layer is live at a time", "[program]") {
  const std::vector<Effect> changes = EstimateFromList(Transformer());
  const Effect* made = Find(changes, "recompute_layers");
  REQUIRE(made != nullptr);
  constexpr std::int64_t kLayer = (6144 + 1536 + 384) * kMiB / 8;
  CHECK(made->saves_bytes == (6144 + 1536) * kMiB - kLayer / 2);
  CHECK(made->spread_bytes == kLayer / 2);
}

TEST_CASE("gaps between temporaries shrink with them", "[program]") {
  ListedProgram listed = Listed({Row("f32[2048,128,1024]{2,1,0:T(8,128)}", ListedPart::kStacked)});
  listed.fragmentation_bytes = listed.need_bytes;
  listed.need_bytes *= 2;
  CHECK(Saved(EstimateFromList(listed), "half_batch") == kGiB);
}

TEST_CASE("a loop with many steps iterates over a sequence, one with few over layers", "[program]") {
  const auto halved = [](std::string_view shape) {
    return Find(EstimateFromList(Listed({Row(shape, ListedPart::kStacked)})), "half_sequence") != nullptr;
  };
  CHECK(halved("f32[2048,128,1024]{2,1,0:T(8,128)}"));
  CHECK_FALSE(halved("f32[48,128,1024]{2,1,0:T(8,128)}"));
}

TEST_CASE("gradients of weights have no batch", "[program]") {
  const std::vector<Effect> changes =
      EstimateFromList(Listed({Row("f32[40064,2048]{1,0:T(8,128)}", ListedPart::kBackward)}));
  CHECK(Find(changes, "half_batch") == nullptr);
  CHECK(Find(changes, "batch_in_steps") == nullptr);
}

TEST_CASE("without gradients, micro-batches are not estimated", "[program]") {
  const std::vector<Effect> changes =
      EstimateFromList(Listed({Row("f32[1024,4096]{1,0:T(8,128)}", ListedPart::kOther)}));
  CHECK(Find(changes, "half_batch") != nullptr);
  CHECK(Find(changes, "batch_in_steps") == nullptr);
}

TEST_CASE("converted weights need no copy if they are stored as bf16", "[program]") {
  ListedProgram listed = Listed({Row("bf16[27,4096,16384]{2,1,0:T(8,128)(2,1)}", ListedPart::kConverted)});
  listed.arguments_bytes = 2 * listed.need_bytes;
  listed.need_bytes *= 3;
  const std::int64_t copy = listed.need_bytes / 3;
  CHECK(Saved(EstimateFromList(listed), "bfloat16") == 2 * copy);
}

TEST_CASE("if many values per example are bf16, the f32 ones stay f32", "[program]") {
  const ListedValue wide = Row("f32[16,1024,1024]{2,1,0:T(8,128)}", ListedPart::kForward);
  const ListedValue narrow = Row("bf16[16,1024,1024]{2,1,0:T(8,128)(2,1)}", ListedPart::kForward);
  CHECK(Saved(EstimateFromList(Listed({wide})), "bfloat16") == wide.size / 2);
  CHECK(Saved(EstimateFromList(Listed({wide, narrow})), "bfloat16") == 0);
  // An f32 value without the batch still becomes bf16.
  const ListedValue gradient = Row("f32[4096,1024]{1,0:T(8,128)}", ListedPart::kBackward);
  CHECK(Saved(EstimateFromList(Listed({wide, narrow, gradient})), "bfloat16") == gradient.size / 2);
  // So does a copy of an argument in another layout, because it is not computed.
  ListedValue copied = wide;
  copied.part = ListedPart::kCopied;
  CHECK(Saved(EstimateFromList(Listed({copied, narrow})), "bfloat16") == wide.size / 2);
}

TEST_CASE("a list with huge sizes does not overflow", "[program]") {
  ListedProgram listed = Listed({Row("f32[9223372036854775807,9223372036854775807]", ListedPart::kStacked)});
  listed.values[0].size = listed.need_bytes = std::int64_t{1} << 57;
  for (const Effect& made : EstimateFromList(listed)) CHECK(made.left_bytes >= 0);
}

}  // namespace TEST_FILE
}  // namespace whyoom

// Reading meshes and shardings. The formats are those of XLA's HLO text and of JAX's annotations in it.
#include <string>
#include <vector>

#include "catch.h"
#include "program/program.h"

using namespace whyoom;

namespace TEST_FILE {

using AxesOfDims = std::vector<std::vector<std::string>>;

constexpr const char* kShardy = R"(frontend_attributes={xla.sdy.sharding="#sdy.sharding<@mesh, [{\"data\"}, {}]>"})";

TEST_CASE("a sharding with mesh axes", "[program]") {
  Mesh mesh;
  const Sharding read =
      ReadSharding("{mesh['data'=4,'model'=2,'stage'=1], [{'data', 'stage'}, {}, {'model'}]}", "", 3, &mesh);
  CHECK(mesh == Mesh{{"data", 4}, {"model", 2}, {"stage", 1}});
  CHECK(read.shards == std::vector<std::int64_t>{4, 1, 2});
  CHECK(read.axes == AxesOfDims{{"data"}, {}, {"model"}});  // an axis of one device splits nothing
}

TEST_CASE("a sharding with counts, whose axes the frontend names", "[program]") {
  Mesh mesh;
  const Sharding read = ReadSharding("{devices=[4,1,2]<=[8] last_tile_dim_replicate}", kShardy, 2, &mesh);
  CHECK(read.shards == std::vector<std::int64_t>{4, 1});
  CHECK(read.axes == AxesOfDims{{"data"}, {}});
  CHECK(mesh == Mesh{{"data", 4}});
}

TEST_CASE("a sharding with counts alone has an axis without a name", "[program]") {
  Mesh mesh;
  CHECK(ReadSharding("{devices=[1,4]<=[4]}", "", 2, &mesh).axes == AxesOfDims{{}, {""}});
  CHECK(mesh.empty());
}

TEST_CASE("a replicated array is split along no axis, and an array without a sharding along unknown ones",
          "[program]") {
  Mesh mesh;
  CHECK(ReadSharding("{replicated}", "", 2, &mesh).shards == std::vector<std::int64_t>{1, 1});
  CHECK(ReadSharding("", kShardy, 2, &mesh).shards.empty());
}

TEST_CASE("the sharding of a result, which names axes only", "[program]") {
  constexpr const char* kOfResult =
      R"(frontend_attributes={xla.sdy.sharding="#sdy.sharding_per_value<[<@mesh, [{\"x\", \"y\"}, {}]>]>"})";
  Mesh mesh = {{"x", 4}, {"y", 2}};
  const Sharding read = ReadSharding("", kOfResult, 2, &mesh);
  CHECK(read.shards == std::vector<std::int64_t>{8, 1});
  CHECK(read.axes == AxesOfDims{{"x", "y"}, {}});
}

TEST_CASE("a PartitionSpec as the user writes it", "[program]") {
  CHECK(SpecText({{"data"}, {}, {"fsdp", "model"}, {}}) == "P('data', None, ('fsdp', 'model'))");
  CHECK(SpecText({{}, {}}) == "P()");
  CHECK(SpecText({{"a'b"}}).empty());
}

TEST_CASE("axis names that are too long to be a user's are ignored", "[program]") {
  const std::string name(65, 'x');
  Mesh mesh;
  AddMeshAxes("mesh['" + name + "'=4]", &mesh);
  CHECK(mesh.empty());
  const Sharding read = ReadSharding("{mesh['data'=4,'model'=2], [{'data', '" + name + "', \"model\"}]}", "", 1, &mesh);
  CHECK(read.axes == AxesOfDims{{"data", "model"}});
}

TEST_CASE("the axes of a module's mesh", "[program]") {
  Mesh mesh;
  AddMeshAxes(R"({xla.sdy.meshes={mesh = #sdy.mesh<["x"=4, "y"=2]>}})", &mesh);
  CHECK(mesh == Mesh{{"x", 4}, {"y", 2}});
}

TEST_CASE("names of axes for another rank are not used", "[program]") {
  Mesh mesh;
  CHECK(ReadSharding("{devices=[4,1,1]<=[4]}", kShardy, 3, &mesh).axes == AxesOfDims{{""}, {}, {}});
}

TEST_CASE("a text with many meshes costs no more than its length", "[program]") {
  std::string text;
  for (int i = 0; i < 300000; ++i) text += "mesh['a'";  // no bracket is closed
  Mesh mesh;
  AddMeshAxes(text, &mesh);
  CHECK(mesh.size() <= 64);
}

TEST_CASE("damaged shardings", "[program]") {
  for (const char* text : {"{mesh['data'=", "{mesh['data", "{devices=[4,", "{mesh['a'=4], [{'a'",
                           "{mesh['a'=-7], [{'a'}]}", "{devices=[99999999999999999999]}", "mesh", "mesh["}) {
    Mesh mesh;
    INFO(text);
    const Sharding read = ReadSharding(text, text, 1, &mesh);
    REQUIRE(read.shards.size() == 1);
    CHECK(read.shards[0] >= 1);
    CHECK(read.shards[0] <= 1 << 20);
  }
}

}  // namespace TEST_FILE

// Pools of texts and shapes.
#include <string>
#include <vector>

#include "catch.h"
#include "program/hlo_text.h"

using namespace whyoom;

namespace TEST_FILE {

TEST_CASE("a repeated text is stored once", "[program]") {
  TextArena arena;
  TextPool pool(arena);
  std::string text = "jit(step)/mul";
  const std::string_view first = pool.Keep(text);
  CHECK(first == "jit(step)/mul");
  CHECK(first.data() != text.data());
  text = "jit(step)/add";
  CHECK(first == "jit(step)/mul");  // a copy
  CHECK(pool.Keep(text) == "jit(step)/add");
  const std::size_t bytes = arena.bytes();
  CHECK(pool.Keep(std::string("jit(step)/mul")).data() == first.data());
  CHECK(arena.bytes() == bytes);
  // A prefix of a text is another text.
  CHECK(pool.Keep("jit(step)") == "jit(step)");
  CHECK(arena.bytes() > bytes);
}

TEST_CASE("an empty text needs no memory", "[program]") {
  TextArena arena;
  TextPool pool(arena);
  CHECK(pool.Keep("").empty());
  CHECK(arena.bytes() == 0);
}

TEST_CASE("stored texts do not move when others are added", "[program]") {
  TextArena arena;
  TextPool pool(arena);
  const std::string_view first = pool.Keep("name0");
  for (int i = 1; i < 20000; ++i) pool.Keep("name" + std::to_string(i));
  CHECK(first == "name0");
  CHECK(pool.Keep("name0").data() == first.data());
  CHECK(pool.Keep("name19999") == "name19999");
}

TEST_CASE("each shape has one number, and 0 is for shapes that are not understood", "[program]") {
  TextArena arena;
  TextPool pool(arena);
  std::vector<HloShape> shapes;
  ShapeTable table(pool, &shapes);
  REQUIRE(shapes.size() == 1);
  CHECK_FALSE(shapes[0].is_tuple);
  CHECK(shapes[0].array.dtype.empty());
  for (const char* text : {"", "token[]", "f32", "nothing", "q7[8]"}) {
    INFO(text);
    CHECK(table.Number(text) == 0);
  }
  CHECK(shapes.size() == 1);

  const int number = table.Number("f32[8,128]{1,0}");
  REQUIRE(number > 0);
  REQUIRE(shapes.size() == 2);
  CHECK(shapes[static_cast<std::size_t>(number)].array.dtype == "f32");
  CHECK(shapes[static_cast<std::size_t>(number)].array.dims == std::vector<std::int64_t>{8, 128});
  CHECK(table.Number("f32[8,128]{1,0}") == number);
  CHECK(table.Number("f32[8,128]{0,1}") != number);  // another layout
  CHECK(shapes.size() == 3);
}

TEST_CASE("the elements of a tuple are shapes of the table", "[program]") {
  TextArena arena;
  TextPool pool(arena);
  std::vector<HloShape> shapes;
  ShapeTable table(pool, &shapes);
  const int array = table.Number("f32[16]{0}");
  const int tuple = table.Number("(f32[16]{0}, (s32[], f32[16]{0}), token[])");
  REQUIRE(tuple > 0);
  const HloShape outer = shapes[static_cast<std::size_t>(tuple)];
  CHECK(outer.is_tuple);
  CHECK(outer.array.dtype.empty());
  REQUIRE(outer.elements.size() == 3);
  CHECK(outer.elements[0] == array);
  CHECK(outer.elements[1] == table.Number("(s32[], f32[16]{0})"));
  CHECK(outer.elements[2] == 0);
  const HloShape inner = shapes[static_cast<std::size_t>(outer.elements[1])];
  CHECK(inner.is_tuple);
  CHECK(inner.elements == std::vector<int>{table.Number("s32[]"), array});

  const int none = table.Number("()");
  REQUIRE(none > 0);
  CHECK(shapes[static_cast<std::size_t>(none)].is_tuple);
  CHECK(shapes[static_cast<std::size_t>(none)].elements.empty());
}

TEST_CASE("a repeated shape needs memory once, and an unknown shape needs none", "[program]") {
  TextArena arena;
  TextPool pool(arena);
  std::vector<HloShape> shapes;
  ShapeTable table(pool, &shapes);
  CHECK(table.bytes() == 0);
  table.Number("token[]");
  CHECK(table.bytes() == 0);
  table.Number("f32[16]");
  const std::size_t one = table.bytes();
  CHECK(one >= sizeof(HloShape));
  table.Number("f32[16]");
  CHECK(table.bytes() == one);
  table.Number("f32[17]");
  CHECK(table.bytes() > one);
}

TEST_CASE("nested tuples are limited in depth", "[program]") {
  TextArena arena;
  TextPool pool(arena);
  std::vector<HloShape> shapes;
  ShapeTable table(pool, &shapes);
  const std::string deep = std::string(1000, '(') + "f32[2]" + std::string(1000, ')');
  const int number = table.Number(deep);
  int at = number;
  int levels = 0;
  while (!shapes[static_cast<std::size_t>(at)].elements.empty()) {
    REQUIRE(++levels < 2000);
    at = shapes[static_cast<std::size_t>(at)].elements[0];
    REQUIRE(at >= 0);
    REQUIRE(at < static_cast<int>(shapes.size()));
  }
}

}  // namespace TEST_FILE

#include "api/metrics.h"

#include <gtest/gtest.h>

namespace assay::api {
namespace {

TEST(Metrics, WritesFamiliesWithTheirSamples) {
  MetricsText text;
  text.begin("assay_streams_open", MetricsText::Type::Gauge, "Streams that clients hold open.");
  text.sample(3);
  RequestCounts counts;
  counts.add("get_chat", 200);
  counts.add("get_chat", 200);
  counts.add("get_chat", 404);
  counts.write(text);
  EXPECT_EQ(text.take(),
            "# HELP assay_streams_open Streams that clients hold open.\n"
            "# TYPE assay_streams_open gauge\n"
            "assay_streams_open 3\n"
            "# HELP assay_http_requests_total Answered requests by endpoint and status.\n"
            "# TYPE assay_http_requests_total counter\n"
            "assay_http_requests_total{endpoint=\"get_chat\",status=\"200\"} 2\n"
            "assay_http_requests_total{endpoint=\"get_chat\",status=\"404\"} 1\n");
  EXPECT_EQ(text.take(), "");
}

}  // namespace
}  // namespace assay::api

